"""``pincite status`` against what was really written and asked."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pincite.catalog.activity import LookupLine
from pincite.cli import status as command
from pincite.errors import StoreUnreachable
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.status import status_of
from pincite.testing.faults import put, raising
from pincite.testing.homes import Home
from pincite.testing.memory_items import OWNER, item
from pincite.wiring import Workspace
from pincite.writing.online import ItemReceipt, write_items

KEYS_BEFORE = {"count", "hit_rate", "latency_ms", "degradations"}


async def ask(workspace: Workspace, query: str, **options: Any) -> LookupResult:
    request = request_from_settings(workspace.settings, query, **options)
    return await lookup_direct(request, workspace.lookup_parts)


def status(home: Home) -> dict[str, Any]:
    async def read(workspace: Workspace) -> dict[str, Any]:
        return status_of(workspace.catalog, workspace.settings)

    shown: dict[str, Any] = home.run(read)
    return shown


def printed(shown: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> list[str]:
    command._print(shown)
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "water.md").write_text("Water boils at 100 degrees.\n", "utf-8")
    home = Home(tmp_path)
    home.ingest(notes)
    return home


def test_status_counts_the_lookups_that_were_made(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    home.write("memory", item("tea without sugar"))

    async def several(workspace: Workspace) -> list[LookupResult]:
        water = "when does water boil"
        asked = [("docs", water), ("docs", water), ("docs,memory", "tea"), ("memory", "tea")]
        return [await ask(workspace, query, corpus=name, **OWNER) for name, query in asked]

    results = home.run(several)
    corpora = status(home)["corpora"]
    docs, memory = (corpora[name]["lookups"] for name in ("docs", "memory"))
    assert docs.keys() >= KEYS_BEFORE
    assert (docs["count"], docs["cached"], memory["count"]) == (3, 1, 2)
    statuses = [result.evidence_status for result in results]
    assert docs["evidence"] == {s: statuses[:3].count(s) for s in ("SUFFICIENT", "WEAK", "NONE")}
    both = {block.candidate.corpus for block in results[2].blocks}
    assert docs["hits"] == 2 + ("docs" in both)
    assert memory["hits"] == ("memory" in both) + bool(results[3].blocks) == 2
    times = sorted(result.trace.latency_ms for result in results[:3])
    assert (docs["latency_ms"]["p50"], docs["latency_ms"]["p99"]) == (times[1], times[2])
    assert docs["stages"].keys() >= {"embed", "search", "pack"}
    assert docs["stages"]["search"]["count"] == 2
    assert corpora["memory"]["items"] == {"PENDING": 0, "INDEXED": 1, "FAILED": 0}
    assert corpora["docs"]["items"] == {}
    lines = printed(status(home), capsys)
    assert "  items      1 indexed" in lines
    assert any(one.startswith("  lookups    3, ") and "p99" in one for one in lines)
    assert "  answered   from the cache 1 time (33%)" in lines


def test_a_corpus_whose_items_wait_shows_before_its_first_generation(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    async def without_store(workspace: Workspace) -> ItemReceipt:
        workspace.store = put(workspace.store, "create", raising(StoreUnreachable("Gone.")))
        return await write_items("memory", [item("tea"), item("coffee")])

    assert home.run(without_store).degradations[0]["code"] == "store_unreachable"
    shown = status(home)
    memory = shown["corpora"]["memory"]
    assert (memory["generation"], memory["generations"], memory["documents"]) == (None, [], {})
    assert memory["items"] == {"PENDING": 2, "INDEXED": 0, "FAILED": 0}
    lines = printed(shown, capsys)
    assert "memory  no generation yet" in lines
    assert "  items      2 pending" in lines


@pytest.mark.parametrize("corpora", ["memory", "docs,memory"])
def test_lookups_by_the_legacy_path_are_told_apart(home: Home, corpora: str) -> None:
    home.write("memory", item("tea without sugar"))
    home.settings_given["memory.rag.rollout"] = "off"
    home.look("tea", corpus=corpora, **OWNER)
    home.settings_given["memory.rag.rollout"] = "on"
    home.look("tea", corpus=corpora, **OWNER)
    shown = status(home)["corpora"]
    memory, docs = shown["memory"]["lookups"], shown["docs"]["lookups"]
    assert (memory["count"], memory["legacy"], memory["legacy_rate"]) == (2, 1, 0.5)
    assert docs["legacy"] == 0


def test_a_core_that_fails_is_answered_by_the_legacy_path_and_counts_as_such(home: Home) -> None:
    home.write("memory", item("tea without sugar"))

    async def broken(workspace: Workspace) -> LookupResult:
        gone = put(workspace.lookup_parts.retriever, "retrieve", raising(StoreUnreachable("Gone.")))
        request = request_from_settings(workspace.settings, "tea", corpus="docs,memory", **OWNER)
        return await lookup_direct(request, replace(workspace.lookup_parts, retriever=gone))

    home.run(broken)
    shown = status(home)["corpora"]
    assert shown["memory"]["lookups"]["legacy"] == 1
    assert shown["docs"]["lookups"]["legacy"] == 0
    assert shown["memory"]["lookups"]["degraded_rate"] == 1.0


def test_shadow_differences_show(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    home.write("memory", item("tea without sugar"), item("coffee with milk"))
    home.settings_given["memory.rag.rollout"] = "shadow"
    for query in ("tea", "coffee"):
        home.look(query, corpus="memory", **OWNER)
    shown = status(home)
    shadow = shown["corpora"]["memory"]["shadow"]
    assert (shadow["count"], shadow["n"], shadow["failed"]) == (2, 5, 0)
    assert 0.0 < shadow["overlap"] <= 1.0
    assert shadow["latency_ms"]["core"]["count"] == 2
    assert shown["corpora"]["docs"]["shadow"]["count"] == 0
    lines = printed(shown, capsys)
    assert any(one.startswith("  shadow     2 lookups on both paths, overlap@5 ") for one in lines)


def test_degradations_show_with_their_share(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    def record(*codes: str) -> Callable[[Workspace], Any]:
        async def keep(workspace: Workspace) -> None:
            line = LookupLine("t", "docs", 3, "NONE", 0, "", codes)
            workspace.catalog.activity.record_lookup(line)

        return keep

    for codes in (("rerank_timeout",), (), (), ("rerank_timeout", "l0_empty")):
        home.run(record(*codes))
    shown = status(home)
    assert shown["corpora"]["docs"]["lookups"]["degradations"] == {
        "l0_empty": 1,
        "rerank_timeout": 2,
    }
    lines = printed(shown, capsys)
    assert "  degraded   l0_empty 1 time (25%)" in lines
    assert "  degraded   rerank_timeout 2 times (50%)" in lines
    assert "  evidence   4 none" in lines
