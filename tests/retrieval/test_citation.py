import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from pincite.errors import EvidenceAmbiguous, EvidenceLost, EvidenceNotFound, ScopeInvalid
from pincite.identity import text_sha256
from pincite.retrieval.citation import Citation, Now, cite
from pincite.testing.small_corpus import SmallCorpus

OLD = text_sha256("old words")
NEW = text_sha256("new words")

Prepare = Callable[[SmallCorpus], Awaitable[Any]]


def _cite(folder: Path, prepare: Prepare, key: str = "a#chunk-0", **options: Any) -> Citation:
    async def prepared() -> SmallCorpus:
        corpus = await SmallCorpus(folder).create()
        await prepare(corpus)
        return corpus

    corpus = asyncio.run(prepared())
    return cite(key, corpus.catalog, corpus.texts, **options)


async def _once(corpus: SmallCorpus) -> None:
    await corpus.write("a", ["old words", "the tail"], title="A", source="docs/a.md")


async def _edited(corpus: SmallCorpus) -> None:
    await _once(corpus)
    await corpus.write("a", ["new words"], title="A 2", source="docs/a.md")


def _sql(folder: Path, statement: str) -> None:
    engine = create_engine(f"sqlite:///{folder / 'catalog.sqlite'}")
    with engine.begin() as connection:
        assert connection.execute(text(statement)).rowcount
    engine.dispose()


def test_the_json_has_exactly_the_keys_of_the_contract(tmp_path: Path) -> None:
    tail = text_sha256("the tail")
    assert json.loads(_cite(tmp_path, _once, "a#chunk-1").to_json()) == {
        "evidence_key": "a#chunk-1",
        "corpus": "docs",
        "doc_id": "a",
        "chunk_index": 1,
        "text": "the tail",
        "source": "docs/a.md",
        "title": "A",
        "heading": "",
        "char_start": 10,
        "char_end": 18,
        "content_sha256": tail,
        "generation": 1,
        "state": "current",
        "current": {"text": "the tail", "content_sha256": tail},
        "source_state": "unknown",
    }


def test_a_key_names_its_text_now(tmp_path: Path) -> None:
    found = _cite(tmp_path, _edited)
    assert (found.state, found.text, found.title) == ("current", "new words", "A 2")


def test_the_digest_names_the_text_as_it_was(tmp_path: Path) -> None:
    found = _cite(tmp_path, _edited, sha256=OLD.upper())
    assert (found.state, found.text, found.title) == ("superseded", "old words", "A")
    assert found.current == Now("new words", NEW)


def test_a_key_that_the_edit_took_away_is_superseded_by_nothing(tmp_path: Path) -> None:
    found = _cite(tmp_path, _edited, "a#chunk-1")
    assert (found.state, found.text, found.current) == ("superseded", "the tail", None)


def test_the_same_text_in_a_newer_version_is_current(tmp_path: Path) -> None:
    async def back(corpus: SmallCorpus) -> None:
        await _edited(corpus)
        await _once(corpus)

    assert _cite(tmp_path, back, sha256=OLD).state == "current"


def test_a_removed_document_is_superseded_by_nothing(tmp_path: Path) -> None:
    async def removed(corpus: SmallCorpus) -> None:
        await _once(corpus)
        await corpus.remove("a")

    found = _cite(tmp_path, removed)
    assert (found.state, found.text, found.current) == ("superseded", "old words", None)


def test_erased_evidence_has_no_text(tmp_path: Path) -> None:
    async def erased(corpus: SmallCorpus) -> None:
        await _edited(corpus)
        _sql(tmp_path, "UPDATE ledger SET erased_at = 1")
        corpus.texts.delete(text_sha256("new words"))

    found = _cite(tmp_path, erased)
    assert (found.state, found.text, found.current) == ("erased", "", None)
    assert (found.content_sha256, _cite_again(tmp_path, sha256=OLD).state) == (NEW, "erased")


@pytest.mark.parametrize("key", ["b#chunk-0", "a#chunk-9", "a", "", "vector:a"])
def test_a_key_that_was_never_given_is_not_found(tmp_path: Path, key: str) -> None:
    with pytest.raises(EvidenceNotFound):
        _cite(tmp_path, _once, key)


def test_a_digest_that_the_key_never_named_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(EvidenceNotFound, match=NEW):
        _cite(tmp_path, _once, sha256=NEW)


async def _writing(corpus: SmallCorpus) -> None:
    await _once(corpus)
    await corpus.upsert(corpus.open("a", "new words", [(0, 9)]))


def test_text_that_is_being_written_is_current_by_its_digest(tmp_path: Path) -> None:
    found = _cite(tmp_path, _writing, sha256=NEW)
    assert (found.state, found.text, found.current) == (
        "current",
        "new words",
        Now("new words", NEW),
    )


def test_without_a_digest_the_stamped_text_stands_while_another_is_written(tmp_path: Path) -> None:
    assert _cite(tmp_path, _writing).text == "old words"


def test_the_first_version_can_be_cited_while_it_is_written(tmp_path: Path) -> None:
    async def first(corpus: SmallCorpus) -> None:
        await corpus.upsert(corpus.open("a", "new words", [(0, 9)]))

    assert (_cite(tmp_path, first).state, _cite_again(tmp_path).text) == ("current", "new words")


def _cite_again(folder: Path, **options: Any) -> Citation:
    corpus = SmallCorpus(folder)
    return cite("a#chunk-0", corpus.catalog, corpus.texts, **options)


def test_a_version_that_was_never_stamped_is_cited_by_its_digest_only(tmp_path: Path) -> None:
    async def abandoned(corpus: SmallCorpus) -> None:
        corpus.open("a", "new words", [(0, 9)])
        _sql(
            tmp_path,
            "UPDATE journal SET open_slot = NULL, closed_at = 1, outcome = 'abandoned'",
        )

    found = _cite(tmp_path, abandoned, sha256=NEW)
    assert (found.state, found.text) == ("superseded", "new words")
    with pytest.raises(EvidenceNotFound):
        _cite_again(tmp_path)


def test_a_key_of_two_corpora_wants_the_corpus_named(tmp_path: Path) -> None:
    async def two(corpus: SmallCorpus) -> None:
        await _once(corpus)
        other = await SmallCorpus(tmp_path, "wiki", catalog=corpus.catalog).create()
        await other.write("a", ["new words"])

    with pytest.raises(EvidenceAmbiguous, match="'docs', 'wiki'"):
        _cite(tmp_path, two)
    assert _cite_again(tmp_path, corpus="wiki").text == "new words"
    assert _cite_again(tmp_path, sha256=OLD).corpus == "docs"


async def _scoped(corpus: SmallCorpus) -> None:
    await corpus.write("a", ["old words"], kb_scope="team")
    await corpus.write("exam", ["new words"], kb_scope="rag-eval")


@pytest.mark.parametrize("scope", ["other", "*", "%", "null", "TEAM"])
def test_a_foreign_scope_finds_nothing(tmp_path: Path, scope: str) -> None:
    with pytest.raises(EvidenceNotFound):
        _cite(tmp_path, _scoped, kb_scope=scope)


def test_the_own_scope_and_none_find_it(tmp_path: Path) -> None:
    assert _cite(tmp_path, _scoped, kb_scope="team").text == "old words"
    assert _cite_again(tmp_path).text == "old words"


def test_an_excluded_scope_is_cited_only_when_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvidenceNotFound):
        _cite(tmp_path, _scoped, "exam#chunk-0")
    corpus = SmallCorpus(tmp_path)
    found = cite("exam#chunk-0", corpus.catalog, corpus.texts, kb_scope="rag-eval")
    assert found.text == "new words"


def test_a_blank_scope_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ScopeInvalid):
        _cite(tmp_path, _scoped, kb_scope=" ")


def test_the_text_now_of_a_foreign_scope_is_not_told(tmp_path: Path) -> None:
    async def moved(corpus: SmallCorpus) -> None:
        await corpus.write("a", ["old words"], kb_scope="team")
        await corpus.remove("a")
        await corpus.write("a", ["new words"], kb_scope="other")

    found = _cite(tmp_path, moved, kb_scope="team")
    assert (found.state, found.text, found.current) == ("superseded", "old words", None)


def test_a_lost_kept_text_is_a_coded_error(tmp_path: Path) -> None:
    async def lost(corpus: SmallCorpus) -> None:
        await _once(corpus)
        corpus.texts.delete(text_sha256("old words\nthe tail"))

    with pytest.raises(EvidenceLost, match="version 1"):
        _cite(tmp_path, lost)


def test_a_damaged_kept_text_is_a_coded_error(tmp_path: Path) -> None:
    async def damaged(corpus: SmallCorpus) -> None:
        await _once(corpus)
        digest = text_sha256("old words\nthe tail")
        (tmp_path / "texts" / digest[:2] / digest).write_text("odd words\nthe tail")

    with pytest.raises(EvidenceLost):
        _cite(tmp_path, damaged)


def test_a_span_that_says_something_else_is_a_coded_error(tmp_path: Path) -> None:
    async def shifted(corpus: SmallCorpus) -> None:
        await _once(corpus)
        _sql(tmp_path, "UPDATE ledger SET char_start = 1 WHERE chunk_index = 0")

    with pytest.raises(EvidenceLost, match="does not hold"):
        _cite(tmp_path, shifted)


def test_the_source_is_asked_about_the_version_that_is_cited(tmp_path: Path) -> None:
    async def edited(corpus: SmallCorpus) -> None:
        await corpus.write("a", ["old words"], raw_sha256="1" * 64)
        await corpus.write("a", ["new words"], raw_sha256="2" * 64)

    def digest(corpus: str, record: Any) -> str:
        assert (corpus, record["source"]) == ("docs", "a")
        return "2" * 64

    assert _cite(tmp_path, edited, source_digest=digest).source_state == "unchanged"
    assert _cite_again(tmp_path, sha256=OLD, source_digest=digest).source_state == "changed"
    gone = _cite_again(tmp_path, source_digest=lambda corpus, record: None)
    assert gone.source_state == "missing"
