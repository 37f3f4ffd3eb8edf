"""What the ledger and the journal forget, and what they never do."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Table, delete, select

from pincite.catalog.catalog import Catalog
from pincite.catalog.documents import Failure
from pincite.catalog.leases import Writer
from pincite.catalog.retention import Trimmed
from pincite.catalog.tables import generations, indexed, journal, ledger, versions
from pincite.documents.corpus_texts import CorpusTexts
from pincite.errors import EvidenceNotFound
from pincite.identity import text_sha256
from pincite.retrieval.citation import Citation, cite
from pincite.testing.catalog_suite_values import HandClock
from pincite.testing.small_corpus import SmallCorpus, spans_of

DAY_MS = 24 * 60 * 60 * 1000
KEY = "d#chunk-0"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def corpus(tmp_path: Path, clock: HandClock) -> Iterator[SmallCorpus]:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.sqlite'}", clock)
    corpus = SmallCorpus(tmp_path, catalog=catalog)
    asyncio.run(corpus.create())
    yield corpus
    catalog.close()


def write(corpus: SmallCorpus, *chunks: str, doc_id: str = "d") -> None:
    asyncio.run(corpus.write(doc_id, chunks))


def remove(corpus: SmallCorpus, doc_id: str = "d") -> None:
    asyncio.run(corpus.remove(doc_id))


def numbers(corpus: SmallCorpus, table: Table, doc_id: str = "d") -> list[int]:
    """Versions of a document that the table has rows of."""
    query = select(table.c.version).where(table.c.doc_id == doc_id).distinct()
    with corpus.catalog._database.read() as connection:
        return sorted(connection.execute(query).scalars())


def everywhere(corpus: SmallCorpus, doc_id: str = "d") -> tuple[list[int], list[int], list[int]]:
    """Versions of a document in the ledger, as they were read, and in the journal."""
    found = (numbers(corpus, table, doc_id) for table in (ledger, versions, journal))
    return next(found), next(found), next(found)


def cited(corpus: SmallCorpus, text: str | None = None) -> Citation:
    """What the key names: now, or with the digest of a text."""
    texts = CorpusTexts(corpus.texts, corpus.catalog.memory_texts)
    digest = None if text is None else text_sha256(text)
    return cite(KEY, corpus.catalog, texts, sha256=digest)


def refuse(corpus: SmallCorpus, text: str) -> None:
    """Journal a version whose embedding is refused."""
    corpus.open("d", text, spans_of([text]))
    failure = Failure("d", "", "", "", "EMBEDDING_REJECTED", "Refused.")
    corpus.catalog.documents.fail(corpus.writer, [failure], frozenset({"d"}))


def test_a_superseded_text_is_kept_from_the_day_it_was_superseded(
    corpus: SmallCorpus, clock: HandClock
) -> None:
    write(corpus, "the first", "and more")
    clock.forward(500 * DAY_MS)
    write(corpus, "the second")
    superseded_at = clock.now
    clock.forward(DAY_MS)
    assert corpus.catalog.trim(superseded_at) == Trimmed()
    assert cited(corpus, "the first").text == "the first"
    assert corpus.catalog.trim(superseded_at + 1) == Trimmed(ledger=2, versions=1, journal=1)
    with pytest.raises(EvidenceNotFound):
        cited(corpus, "the first")
    assert cited(corpus, "the second").text == "the second"
    assert everywhere(corpus) == ([2], [2], [2])


def test_what_a_generation_holds_is_kept_however_old(corpus: SmallCorpus, clock: HandClock) -> None:
    write(corpus, "as it stands")
    clock.forward(5_000 * DAY_MS)
    assert corpus.catalog.trim(clock.now) == Trimmed()
    found = cited(corpus)
    assert (found.text, found.state) == ("as it stands", "current")


def test_a_removed_document_is_forgotten_and_may_come_back(
    corpus: SmallCorpus, clock: HandClock
) -> None:
    write(corpus, "the first")
    write(corpus, "the second")
    clock.forward(500 * DAY_MS)
    remove(corpus)
    clock.forward(DAY_MS)
    assert corpus.catalog.trim(clock.now - 2 * DAY_MS) == Trimmed(1, 1, 1)
    assert cited(corpus, "the second").text == "the second"
    assert corpus.catalog.trim(clock.now) == Trimmed(ledger=1, versions=1, journal=2)
    assert everywhere(corpus) == ([], [], [])
    write(corpus, "back again")
    assert everywhere(corpus) == ([1], [1], [1])
    assert cited(corpus).text == "back again"


def test_a_version_that_is_being_written_is_kept(corpus: SmallCorpus, clock: HandClock) -> None:
    write(corpus, "the first")
    corpus.open("d", "on its way", spans_of(["on its way"]))
    clock.forward(5_000 * DAY_MS)
    assert corpus.catalog.trim(clock.now) == Trimmed()
    assert everywhere(corpus) == ([1, 2], [1, 2], [1, 2])


def test_numbers_go_on_after_a_version_that_failed(corpus: SmallCorpus, clock: HandClock) -> None:
    write(corpus, "the first")
    refuse(corpus, "refused")
    clock.forward(DAY_MS)
    assert corpus.catalog.trim(clock.now) == Trimmed(ledger=1, versions=1)
    assert everywhere(corpus) == ([1], [1], [1, 2])
    assert corpus.catalog.trim(clock.now) == Trimmed()
    write(corpus, "the third")
    assert numbers(corpus, indexed) == [3]


def test_numbers_go_on_where_a_row_may_be_left_in_the_store(
    corpus: SmallCorpus, clock: HandClock
) -> None:
    corpus.open("d", "killed", spans_of(["killed"]))
    clock.forward(DAY_MS)
    refuse(corpus, "refused")
    with corpus.catalog._database.write() as connection:
        connection.execute(delete(indexed))
    clock.forward(DAY_MS)
    assert corpus.catalog.trim(clock.now) == Trimmed(ledger=2, versions=2, journal=1)
    write(corpus, "whole")
    assert numbers(corpus, indexed) == [3]


def test_a_later_version_in_another_generation_supersedes_only_once_this_one_is_gone(
    corpus: SmallCorpus, clock: HandClock
) -> None:
    write(corpus, "in the first generation")
    catalog = corpus.catalog
    row = dict.fromkeys(("state", "gate", "recipe"), "")
    row |= {"corpus": "docs", "generation": 2, "collection": "c2", "created_at": clock.now}
    with catalog._database.write() as connection:
        connection.execute(generations.insert().values(row))
        connection.execute(delete(indexed))
    corpus.writer = Writer("docs", 2, "other", fence=0, ttl_ms=60_000)
    write(corpus, "in the second generation")
    clock.forward(DAY_MS)
    assert catalog.trim(clock.now) == Trimmed()
    with catalog._database.write() as connection:
        connection.execute(delete(generations).where(generations.c.generation == 1))
    assert catalog.trim(clock.now) == Trimmed(ledger=1, versions=1, journal=1)


def test_other_documents_are_left_alone_and_pages_follow_each_other(
    corpus: SmallCorpus, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pincite.catalog.retention.IN_LIST", 2)
    for _ in range(4):
        write(corpus, "again")
        write(corpus, "again", doc_id="e")
    remove(corpus)
    write(corpus, "young", doc_id="f")
    clock.forward(DAY_MS)
    before = clock.now
    write(corpus, "old no more", doc_id="f")
    assert corpus.catalog.trim(before) == Trimmed(ledger=7, versions=7, journal=8)
    assert everywhere(corpus) == ([], [], [])
    assert everywhere(corpus, "e") == ([4], [4], [4])
    assert everywhere(corpus, "f") == ([1, 2], [1, 2], [1, 2])
    assert corpus.catalog.trim(before) == Trimmed()
