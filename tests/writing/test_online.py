"""Items written within a conversation: found at once, or accepted and waiting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.catalog.items import FAILED, INDEXED, PENDING
from pincite.corpora.item_fields import clean_text
from pincite.errors import (
    EmbedderUnreachable,
    ItemInvalid,
    RequestInvalid,
    ScopeInvalid,
    StoreUnreachable,
)
from pincite.testing.faults import hanging, put, raising
from pincite.testing.homes import Home
from pincite.testing.lookups import codes, keys
from pincite.testing.memory_items import OWNER, from_now, item
from pincite.wiring import Workspace
from pincite.writing.online import EXPIRED, MAX_ITEMS, TIMED_OUT, ItemReceipt, write_items

MINE = {"corpus": "memory", **OWNER}
Break = Callable[[Workspace], None]


def states(receipt: ItemReceipt) -> list[tuple[str, str | None]]:
    return [(one.state, one.code) for one in receipt.items]


def without_embedder(workspace: Workspace) -> None:
    gone = raising(EmbedderUnreachable("Gone."))
    workspace.embedder = put(workspace.embedder, "embed", gone)


def without_store(workspace: Workspace) -> None:
    workspace.store = put(workspace.store, "upsert", raising(StoreUnreachable("Gone.")))


def with_slow_store(workspace: Workspace) -> None:
    workspace.store = put(workspace.store, "upsert", hanging())


def write_with(home: Home, fault: Break, *values: dict[str, Any]) -> ItemReceipt:
    async def work(workspace: Workspace) -> ItemReceipt:
        fault(workspace)
        return await write_items("memory", values)

    receipt: ItemReceipt = home.run(work)
    return receipt


def test_a_first_item_makes_the_corpus_and_is_found_at_once(home: Home) -> None:
    receipt = home.write("memory", item("Ann drinks green tea", id="1"))
    assert states(receipt) == [(INDEXED, None)]
    result = home.look("what does Ann drink", **MINE)
    assert keys(result) == [f"{receipt.items[0].doc_id}#chunk-0"]
    assert codes(result) == []
    assert home.verified()


@pytest.mark.parametrize("name", OWNER)
def test_nobody_else_finds_or_cites_it(home: Home, name: str) -> None:
    from pincite.errors import EvidenceNotFound, ScopeRequired

    key = f"{home.write('memory', item('Ann drinks tea')).items[0].doc_id}#chunk-0"
    assert keys(home.look("tea", **{**MINE, name: "other"})) == []
    assert home.cite(key, scope_ids=OWNER).text == "Ann drinks tea"
    with pytest.raises(EvidenceNotFound):
        home.cite(key, scope_ids={**OWNER, name: "other"})
    with pytest.raises(EvidenceNotFound):
        home.cite(key)
    with pytest.raises(ScopeRequired):
        home.cite(key, corpus="memory", scope_ids={**OWNER, name: None})


def test_other_words_under_one_id_replace_and_the_old_ones_stay_citable(home: Home) -> None:
    first = home.write("memory", item("Ann drinks tea", id="1")).items[0]
    old = home.cite(f"{first.doc_id}#chunk-0", scope_ids=OWNER)
    home.write("memory", item("Ann drinks coffee", id="1"))
    result = home.look("what does Ann drink", **MINE)
    assert [block.content for block in result.blocks] == ["Ann drinks coffee"]
    was = home.cite(old.evidence_key, scope_ids=OWNER, sha256=old.content_sha256)
    assert (was.text, was.state, was.source_state) == ("Ann drinks tea", "superseded", "changed")
    assert was.current is not None
    assert was.current.text == "Ann drinks coffee"


def test_writing_the_same_again_changes_nothing(home: Home) -> None:
    for _ in range(2):
        assert states(home.write("memory", item("tea", id="1"))) == [(INDEXED, None)]
    rows = home.rows("memory")
    assert [row["doc_version"] for row in rows.values()] == [1]


@pytest.mark.parametrize(
    ("fault", "code"),
    [(without_embedder, "embedder_unreachable"), (without_store, "store_unreachable")],
)
def test_what_cannot_be_written_now_is_accepted_and_comes_with_the_next_write(
    home: Home, fault: Break, code: str
) -> None:
    waiting = write_with(home, fault, item("green tea", id="1"))
    assert states(waiting) == [(PENDING, code)]
    assert [one["code"] for one in waiting.degradations] == [code]
    assert states(home.write("memory", item("milk", id="2", user_id="u-2"))) == [(INDEXED, None)]
    assert keys(home.look("green tea", **MINE)) == [f"{waiting.items[0].doc_id}#chunk-0"]
    assert home.run(_counts) == {INDEXED: 2}
    assert home.verified()


def test_a_write_that_takes_too_long_waits(make_home: Callable[..., Home]) -> None:
    home = make_home(**{"memory.write-timeout-ms": 300})
    assert states(write_with(home, with_slow_store, item("tea"))) == [(PENDING, TIMED_OUT)]


def test_a_pending_item_is_found_by_the_legacy_path_when_the_store_is_gone(home: Home) -> None:
    from pincite.retrieval.pipeline import lookup_direct
    from pincite.retrieval.request import request_from_settings

    write_with(home, without_store, item("green tea", id="1"))

    async def look(workspace: Workspace) -> Any:
        workspace.store = put(workspace.store, "search", raising(StoreUnreachable("Gone.")))
        request = request_from_settings(workspace.settings, "green tea", **MINE)
        return await lookup_direct(request, workspace.lookup_parts)

    assert [block.content for block in home.run(look).blocks] == ["green tea"]


def test_what_has_expired_on_arrival_is_counted_and_not_kept(home: Home) -> None:
    receipt = home.write(
        "memory", item("old", ttl_at=from_now(seconds=-1)), item("new", ttl_at=from_now(hours=1))
    )
    assert states(receipt) == [(EXPIRED, None), (INDEXED, None)]
    assert receipt.as_dict()["counts"] == {"indexed": 1, "pending": 0, "failed": 0, "expired": 1}
    assert home.run(_counts) == {INDEXED: 1}


def test_one_wrong_item_and_none_is_accepted(home: Home) -> None:
    for wrong, error in (
        (item("tea", confidence=2), ItemInvalid),
        (item("tea", user_id=" "), ScopeInvalid),
    ):
        with pytest.raises(error):
            home.write("memory", item("fine"), wrong)
    assert home.run(_counts) == {}


@pytest.mark.parametrize("count", [0, MAX_ITEMS + 1])
def test_no_item_and_too_many_are_refused(home: Home, count: int) -> None:
    with pytest.raises(RequestInvalid, match="items were given"):
        home.write("memory", *[item(f"tea {n}") for n in range(count)])
    with pytest.raises(RequestInvalid, match="takes no items"):
        home.write("docs", item("tea"))


def test_many_writers_at_once_lose_nothing(home: Home) -> None:
    async def work(workspace: Workspace) -> list[ItemReceipt]:
        writes = (
            write_items("memory", [item(f"tea number {n}", user_id=f"u-{n % 5}")])
            for n in range(25)
        )
        return await asyncio.gather(*writes)

    receipts = home.run(work)
    assert {state for one in receipts for state, _ in states(one)} <= {INDEXED, PENDING}
    home.write("memory", item("the last"))
    assert home.run(_counts) == {INDEXED: 26}
    assert len(home.rows("memory")) == 26
    assert home.verified()


def test_a_long_item_becomes_several_chunks_of_one_document(home: Home) -> None:
    text = "\n\n".join(f"Paragraph {n} about " + "tea and milk " * 60 for n in range(8))
    (outcome,) = home.write("memory", item(text, id="long")).items
    rows = home.rows("memory")
    assert len(rows) > 1
    assert {row["doc_id"] for row in rows.values()} == {outcome.doc_id}
    found = home.look("paragraph about tea", return_n=10, **MINE)
    kept = clean_text(text)
    for block in found.blocks:
        assert block.content == kept[block.char_start : block.char_end]


def test_what_the_embedder_refuses_for_good_fails_and_is_not_tried_again(home: Home) -> None:
    from pincite.errors import EmbeddingRejected

    def refusing(workspace: Workspace) -> None:
        refused = raising(EmbeddingRejected("No."))
        workspace.embedder = put(
            workspace.embedder, "embed", refused, lambda texts, *_, **__: "poison" in str(texts)
        )

    receipt = write_with(home, refusing, item("tea"), item("poison"))
    assert states(receipt) == [(INDEXED, None), (FAILED, "embedding_rejected")]
    assert home.run(_counts) == {INDEXED: 1, FAILED: 1}


async def _counts(workspace: Workspace) -> dict[str, int]:
    return workspace.catalog.items["memory"].counts()


def _file(folder: Path, *lines: Any) -> Path:
    path = folder / "items.jsonl"
    path.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    )
    return path


def test_a_file_of_items_is_ingested_and_a_bad_line_fails_alone(home: Home, tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        item("Ann drinks tea", id="1"),
        "",
        "no json",
        item("naive", ttl_at="2030-01-01T00:00:00"),
        item("gone", ttl_at=from_now(days=-1)),
        item("Bob drinks milk", id="2", user_id="u-2"),
    )
    receipt = home.ingest(path, corpus="memory")
    documents = receipt.documents
    assert (documents["added"], documents["failed"], documents["expired"]) == (2, 2, 1)
    assert documents["seen"] == 4
    assert [one["code"] for one in receipt.failures] == ["ITEM_INVALID", "ITEM_INVALID"]
    assert all(one["source"].startswith("items.jsonl at byte ") for one in receipt.failures)
    assert home.run(_counts) == {INDEXED: 2}
    assert keys(home.look("tea", **MINE)) != []
    again = home.ingest(path, corpus="memory")
    assert (again.documents["unchanged"], again.chunks["written"]) == (2, 0)
    assert home.verified()


def test_of_two_lines_with_one_identity_the_last_counts(
    make_home: Callable[..., Home], tmp_path: Path
) -> None:
    home = make_home(**{"rag.ingest.batch-bytes": 200})
    path = _file(tmp_path, *[item(f"tea number {n}", id=str(n % 2)) for n in range(9)])
    receipt = home.ingest(path, corpus="memory")
    assert receipt.failures == ()
    contents = sorted(row["content"] for row in home.rows("memory").values())
    assert contents == ["tea number 7", "tea number 8"]
    assert home.run(_counts) == {INDEXED: 2}
    assert home.verified()


def test_a_preview_accepts_nothing(home: Home, tmp_path: Path) -> None:
    from pincite.writing.preview import preview
    from pincite.writing.request import IngestRequest

    path = _file(tmp_path, item("tea"), item("milk"))
    request = IngestRequest((str(path),), corpus="memory")
    assert home.run(lambda _: preview(request)).documents["added"] == 2
    assert home.run(_counts) == {}


def test_what_items_say_themselves_is_not_said_for_them(home: Home, tmp_path: Path) -> None:
    path = _file(tmp_path, item("tea"))
    with pytest.raises(RequestInvalid, match="say themselves"):
        home.ingest(path, corpus="memory", category="food")
    with pytest.raises(RequestInvalid, match="holds no items"):
        home.ingest(Path(__file__), corpus="memory")


def test_items_leave_no_words_among_the_hints(home: Home) -> None:
    home.write("memory", item("green tea", memory_type="preference"))

    async def postings(workspace: Workspace) -> bool:
        return workspace.catalog.l0.is_empty("memory")

    assert home.run(postings)
