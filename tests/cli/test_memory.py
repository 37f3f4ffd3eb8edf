"""Memory on the command line, from the first item to its end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pincite.testing.memory_items import OWNER, from_now, item, let_expire

IDS = [part for name, value in OWNER.items() for part in (f"--{name.replace('_', '-')}", value)]


@pytest.fixture(scope="module")
def added(pincite: Any) -> Any:
    """The receipt of an item that is there for good."""
    ran = pincite("memory", "add", "Ann drinks green tea", *IDS, "--id", "tea", "--json")
    assert ran.status == 0, ran.err
    return ran.json


def test_an_item_is_found_and_cited_by_its_owner(added: Any, pincite: Any) -> None:
    assert added["counts"] == {"indexed": 1, "pending": 0, "failed": 0, "expired": 0}
    found = pincite("lookup", "tea", "--corpus", "memory", *IDS, "--json").json
    (result,) = found["results"]
    assert (result["excerpt"], result["source"]) == ("Ann drinks green tea", "memory/tea")
    cited = pincite("cite", result["document_id"], *IDS, "--json").json
    assert (cited["text"], cited["state"]) == ("Ann drinks green tea", "current")


def test_without_the_ids_there_is_nothing_to_cite(added: Any, pincite: Any) -> None:
    key = f"{added['items'][0]['doc_id']}#chunk-0"
    for more, status, code in (
        ((), 1, "EVIDENCE_NOT_FOUND"),
        (("--corpus", "memory"), 2, "SCOPE_REQUIRED"),
        ((*IDS[:4], "--conversation-id", "other"), 1, "EVIDENCE_NOT_FOUND"),
    ):
        ran = pincite("cite", key, *more, "--json")
        assert (ran.status, ran.json["error"]["code"]) == (status, code)


def test_a_person_is_told_id_and_state(pincite: Any) -> None:
    ran = pincite("memory", "add", "no peanuts", *IDS, "--memory-type", "constraint")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("memory-")
    assert ran.out.strip().endswith("INDEXED")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (("--memory-type", "secret"), "ITEM_INVALID"),
        (("--ttl-at", "2030-01-01T00:00:00"), "ITEM_INVALID"),
        (("--confidence", "7"), "ITEM_INVALID"),
        (("--user-id", " "), "SCOPE_INVALID"),
    ],
)
def test_a_wrong_item_is_a_coded_error(pincite: Any, more: tuple[str, ...], code: str) -> None:
    ran = pincite("memory", "add", "tea", *IDS, *more, "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, code)


def test_bulk_expiry_and_maintain(pincite: Any, place: Any) -> None:
    path = place / "items.jsonl"
    lines = [
        item("milk", id="milk", user_id="u-2"),
        item("soon gone", id="soon", user_id="u-2", ttl_at=from_now(hours=1)),
        item("long gone", id="long", user_id="u-2", ttl_at=from_now(days=-1)),
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    preview = pincite("ingest", str(path), "--corpus", "memory", "--dry-run", "--json").json
    assert preview["documents"]["added"] == 2
    receipt = pincite("ingest", str(path), "--corpus", "memory", "--direct", "--json").json
    assert (receipt["documents"]["added"], receipt["documents"]["expired"]) == (2, 1)
    let_expire(place / "home", "soon")
    done = pincite("maintain", "--direct", "--json")
    assert done.status == 0, done.err
    assert done.json["corpora"]["memory"]["documents"]["deleted"] == 1
    shown = pincite("maintain", "--corpus", "memory", "--direct")
    assert shown.out.startswith("Maintained memory in")
    assert pincite("verify", "--json").json["ok"] is True


def test_the_legacy_path_is_one_setting_away(added: Any, pincite: Any) -> None:
    off = {"PINCITE_MEMORY__RAG__ROLLOUT": "off"}
    found = pincite("lookup", "tea", "--corpus", "memory", *IDS, "--json", **off).json
    assert found["retrievalTrace"]["selectedAttempt"] == "LEGACY"
    assert found["results"][0]["excerpt"] == "Ann drinks green tea"
