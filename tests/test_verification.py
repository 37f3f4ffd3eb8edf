import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from pincite.errors import CorpusEmpty
from pincite.identity import text_sha256
from pincite.testing.memory_corpus import MemoryCorpus
from pincite.testing.small_corpus import SmallCorpus
from pincite.verification import Verification, verify

CHUNKS = ["alpha one", "beta two", "gamma three"]
KINDS = ("missing", "orphaned", "duplicate", "stale", "identity", "pending")

Damage = Callable[[SmallCorpus], Awaitable[None]]


async def _nothing(corpus: SmallCorpus) -> None:
    return None


def _verified(folder: Path, damage: Damage = _nothing) -> dict[str, Any]:
    """The corpus's part of the verification after the damage, with lists that are not empty."""

    async def run() -> Verification:
        corpus = await SmallCorpus(folder).create()
        await corpus.write("a", CHUNKS)
        await corpus.write("b", ["delta", "epsilon"])
        await damage(corpus)
        return await verify(corpus.catalog, corpus.store, corpus.texts, ["docs"])

    found = asyncio.run(run())
    report = found.as_dict()["corpora"]["docs"]
    assert found.ok == (not any(report[kind] for kind in KINDS))
    return {name: value for name, value in report.items() if value}


def _findings(folder: Path, damage: Damage) -> dict[str, Any]:
    found = _verified(folder, damage)
    return {name: value for name, value in found.items() if name in KINDS}


async def _rewritten(corpus: SmallCorpus, doc_id: str, index: int, /, **changes: Any) -> None:
    """One row of the document's stamped version, written again with other values."""
    held = corpus.catalog.documents.held("docs", 1, [doc_id])[doc_id]
    expected = corpus.catalog.ledger.expected("docs", 1, [doc_id])[index]
    content = corpus.texts.get(expected.text_digest)[expected.char_start : expected.char_end]
    row = {
        "vector_id": expected.evidence_key,
        "evidence_key": expected.evidence_key,
        "doc_id": doc_id,
        "doc_version": held.version,
        "chunk_index": index,
        "kb_scope": "",
        "category": "",
        "source": doc_id,
        "title": "",
        "heading": "",
        "content": content,
        "content_sha256": expected.content_sha256,
        "char_start": expected.char_start,
        "char_end": expected.char_end,
        "tokens": 2,
        "metadata": "{}",
    }
    await corpus.upsert_rows([{**row, **changes}])


def _sql(folder: Path, statement: str) -> None:
    engine = create_engine(f"sqlite:///{folder / 'catalog.sqlite'}")
    with engine.begin() as connection:
        assert connection.execute(text(statement)).rowcount == 1
    engine.dispose()


def test_parts_that_agree_are_ok(tmp_path: Path) -> None:
    assert _verified(tmp_path) == {"documents": 2, "chunks": 5}


def test_every_key_of_the_json_is_always_there(tmp_path: Path) -> None:
    async def run() -> str:
        corpus = await SmallCorpus(tmp_path).create()
        return (await verify(corpus.catalog, corpus.store, corpus.texts)).to_json()

    empty: dict[str, list[str]] = {kind: [] for kind in KINDS}
    assert json.loads(asyncio.run(run())) == {
        "ok": True,
        "corpora": {"docs": {"documents": 0, "chunks": 0, **empty}},
    }


def test_a_corpus_without_a_generation_is_an_error(tmp_path: Path) -> None:
    async def run() -> None:
        corpus = SmallCorpus(tmp_path)
        await verify(corpus.catalog, corpus.store, corpus.texts, ["docs"])

    with pytest.raises(CorpusEmpty, match="'docs'"):
        asyncio.run(run())


def test_a_deleted_row_is_missing(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        await corpus.store.delete(corpus.collection, ids=["a#chunk-1"])

    assert _findings(tmp_path, damage) == {"missing": ["a#chunk-1"]}


def test_a_row_of_an_unknown_document_is_orphaned(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        await _rewritten(corpus, "a", 0, vector_id="zz#chunk-0", doc_id="zz")

    assert _findings(tmp_path, damage) == {"orphaned": ["zz#chunk-0"]}


def test_a_row_of_an_unknown_key_of_a_known_document_is_orphaned(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        await _rewritten(corpus, "a", 0, vector_id="a#chunk-7", chunk_index=7)

    assert _findings(tmp_path, damage) == {"orphaned": ["a#chunk-7"]}


def test_two_rows_of_one_key_are_duplicate(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        await _rewritten(corpus, "a", 0, vector_id="another id")

    assert _findings(tmp_path, damage) == {
        "duplicate": ["a#chunk-0"],
        "identity": ["another id"],
    }


def test_a_row_of_an_older_version_is_stale(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        await corpus.write("a", ["new alpha"])
        await _rewritten(corpus, "a", 0, doc_version=1)
        await _rewritten(corpus, "a", 0, doc_version=1, vector_id="a#chunk-2", chunk_index=2)

    assert _findings(tmp_path, damage) == {"stale": ["a#chunk-0", "a#chunk-2"]}


def test_a_row_with_another_digest_is_stale(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        other = "another text"
        await _rewritten(corpus, "b", 1, content=other, content_sha256=text_sha256(other))

    assert _findings(tmp_path, damage) == {"stale": ["b#chunk-1"]}


def test_a_row_whose_content_is_not_what_its_digest_says_violates_identity(
    tmp_path: Path,
) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        await _rewritten(corpus, "b", 1, content="epsilom")

    assert _findings(tmp_path, damage) == {"identity": ["b#chunk-1"]}


def test_a_row_with_another_span_violates_identity(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        await _rewritten(corpus, "b", 1, char_start=7, char_end=14)

    assert _findings(tmp_path, damage) == {"identity": ["b#chunk-1"]}


def test_a_lost_kept_text_violates_the_identity_of_all_its_chunks(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        corpus.texts.delete(text_sha256("delta\nepsilon"))

    assert _findings(tmp_path, damage) == {"identity": ["b#chunk-0", "b#chunk-1"]}


def test_a_damaged_kept_text_violates_identity(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        digest = text_sha256("delta\nepsilon")
        (tmp_path / "texts" / digest[:2] / digest).write_text("delta\nepsilom")

    assert _findings(tmp_path, damage) == {"identity": ["b#chunk-0", "b#chunk-1"]}


def test_a_span_that_the_kept_text_does_not_bear_out_violates_identity(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        _sql(
            tmp_path,
            "UPDATE ledger SET char_start = 7, char_end = 14 WHERE evidence_key = 'b#chunk-1'",
        )

    assert _findings(tmp_path, damage) == {"identity": ["b#chunk-1"]}


def test_a_lost_ledger_row_shows_in_its_document_and_its_row(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        _sql(tmp_path, "DELETE FROM ledger WHERE evidence_key = 'a#chunk-1'")

    assert _findings(tmp_path, damage) == {"identity": ["a"], "orphaned": ["a#chunk-1"]}


def test_a_wrong_chunk_count_violates_identity(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        _sql(tmp_path, "UPDATE indexed SET chunk_count = 4 WHERE doc_id = 'a'")

    assert _findings(tmp_path, damage) == {"identity": ["a"]}


def test_an_unfinished_write_is_pending_and_not_stale(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        opened = corpus.open("a", "new alpha\nnew tail", [(0, 9), (10, 18)])
        await corpus.upsert(opened)

    assert _findings(tmp_path, damage) == {"pending": ["a"]}


def test_an_unfinished_first_write_is_pending_and_not_orphaned(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        await corpus.upsert(corpus.open("new", "first words", [(0, 11)]))

    assert _findings(tmp_path, damage) == {"pending": ["new"]}


def test_a_write_that_its_writer_left_behind_is_pending(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        corpus.open("b", "delta\nepsilon", [(0, 5), (6, 13)])
        _sql(tmp_path, "UPDATE journal SET expires_at = 1 WHERE open_slot = 1")

    assert _findings(tmp_path, damage) == {"pending": ["b"]}


def test_a_removed_document_leaves_nothing_to_find(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        await corpus.remove("a")

    assert _verified(tmp_path, damage) == {"documents": 1, "chunks": 2}


def test_rows_that_outlive_their_removed_document_are_orphaned(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        opened = await corpus.write("c", ["zeta"])
        await corpus.remove("c")
        await corpus.upsert(opened)

    assert _findings(tmp_path, damage) == {"orphaned": ["c#chunk-0"]}


def test_an_empty_document_needs_no_row(tmp_path: Path) -> None:
    async def damage(corpus: SmallCorpus) -> None:
        corpus.stamp(corpus.open("empty", "", []))

    assert _verified(tmp_path, damage) == {"documents": 3, "chunks": 5}


def test_a_document_stamped_between_two_looks_is_no_finding(tmp_path: Path) -> None:
    class Writing:
        """The store of a corpus that is written to while the first scan runs."""

        def __init__(self, corpus: SmallCorpus) -> None:
            self._corpus, self._calm = corpus, True

        async def scan(self, *args: Any, **options: Any) -> Any:
            if self._calm:
                self._calm = False
                await self._corpus.write("a", ["written meanwhile"])
            async for page in self._corpus.store.scan(*args, **options):
                yield page

        def __getattr__(self, name: str) -> Any:
            return getattr(self._corpus.store, name)

    async def run() -> Verification:
        corpus = await SmallCorpus(tmp_path).create()
        await corpus.write("a", CHUNKS)
        return await verify(corpus.catalog, Writing(corpus), corpus.texts, ["docs"])

    assert asyncio.run(run()).ok


def test_more_rows_than_a_store_answers_at_once_are_all_compared(tmp_path: Path) -> None:
    size, documents = 4_250, 4

    async def run() -> dict[str, Any]:
        corpus = await SmallCorpus(tmp_path).create()
        for number in range(documents):
            await corpus.write(f"d{number}", [f"word{i}" for i in range(size)])
        await corpus.store.delete(corpus.collection, ids=["d3#chunk-4249"])
        await _rewritten(corpus, "d3", 0, vector_id="zz#chunk-0", doc_id="zz")
        found = await verify(corpus.catalog, corpus.store, corpus.texts, ["docs"])
        return found.as_dict()["corpora"]["docs"]

    report = asyncio.run(run())
    assert report["chunks"] == size * documents > 16_384
    assert report["missing"] == ["d3#chunk-4249"]
    assert report["orphaned"] == ["zz#chunk-0"]
    assert not report["stale"] + report["identity"] + report["duplicate"] + report["pending"]


@pytest.mark.parametrize(
    "change", [{"user_id": "somebody else"}, {"expires_at": 7}, {"sensitivity_level": 0}]
)
def test_a_row_that_says_another_owner_level_or_expiry_violates_identity(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    async def run() -> tuple[Verification, Verification]:
        corpus = await MemoryCorpus(tmp_path).create()
        opened = await corpus.write("a", CHUNKS, sensitivity_level=3)
        whole = await verify(corpus.catalog, corpus.store, corpus.texts, ["memory"])
        await corpus.upsert_rows([{**opened.rows[1], **change}])
        damaged = await verify(corpus.catalog, corpus.store, corpus.texts, ["memory"])
        corpus.catalog.close()
        return whole, damaged

    whole, damaged = asyncio.run(run())
    assert whole.ok
    assert damaged.as_dict()["corpora"]["memory"]["identity"] == ["a#chunk-1"]
