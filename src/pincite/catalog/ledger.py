"""The ledger: which text each evidence key has named, and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Select, select

from pincite.catalog.database import Database, now_ms, slices
from pincite.catalog.slots import STAMPED
from pincite.catalog.tables import indexed, journal, ledger


@dataclass(frozen=True)
class LedgerEntry:
    """One text that one evidence key named: a span of a kept text.

    ``stamped`` is false for a version that is being written or whose writing failed.
    """

    corpus: str
    generation: int
    evidence_key: str
    version: int
    doc_id: str
    chunk_index: int
    content_sha256: str
    text_digest: str
    char_start: int
    char_end: int
    heading: str
    erased: bool
    stamped: bool


@dataclass(frozen=True)
class KnownChunk:
    """A chunk of a document's latest version, whether the store holds it or not yet."""

    evidence_key: str
    generation: int
    doc_id: str
    version: int
    chunk_index: int
    text_digest: str
    char_start: int
    char_end: int


@dataclass(frozen=True)
class ExpectedChunk:
    """A chunk that the store must hold now."""

    evidence_key: str
    doc_id: str
    version: int
    chunk_index: int
    content_sha256: str
    text_digest: str
    char_start: int
    char_end: int


_KNOWN = [ledger.c[name] for name in KnownChunk.__dataclass_fields__]
_EXPECTED = [ledger.c[name] for name in ExpectedChunk.__dataclass_fields__]


class Ledger:
    """The ledger in the catalogue's database."""

    def __init__(self, database: Database, clock: Callable[[], int] = now_ms) -> None:
        self._database = database
        self._clock = clock

    def entries(self, evidence_key: str, corpus: str | None = None) -> list[LedgerEntry]:
        """Everything that the key has named, newest first."""
        query = _with_outcome().where(ledger.c.evidence_key == evidence_key)
        if corpus is not None:
            query = query.where(ledger.c.corpus == corpus)
        query = query.order_by(ledger.c.corpus, ledger.c.version.desc(), ledger.c.generation.desc())
        with self._database.read() as connection:
            return [
                LedgerEntry(
                    row.corpus,
                    row.generation,
                    row.evidence_key,
                    row.version,
                    row.doc_id,
                    row.chunk_index,
                    row.content_sha256,
                    row.text_digest,
                    row.char_start,
                    row.char_end,
                    row.heading,
                    erased=row.erased_at > 0,
                    stamped=row.outcome == STAMPED,
                )
                for row in connection.execute(query)
            ]

    def latest(self, corpus: str, generation: int, doc_ids: Sequence[str]) -> list[KnownChunk]:
        """The chunks of the latest journalled version of these documents, by document and index."""
        here = (ledger.c.corpus == corpus) & (ledger.c.generation == generation)
        newest: dict[str, int] = {}
        found: list[KnownChunk] = []
        with self._database.read() as connection:
            for part in slices(doc_ids):
                query = (
                    select(*_KNOWN)
                    .where(here, ledger.c.doc_id.in_(part), ledger.c.erased_at == 0)
                    .order_by(ledger.c.doc_id, ledger.c.version.desc(), ledger.c.chunk_index)
                )
                for row in connection.execute(query):
                    if newest.setdefault(row.doc_id, row.version) == row.version:
                        found.append(KnownChunk(*row))
        return found

    def expected(self, corpus: str, generation: int, doc_ids: Sequence[str]) -> list[ExpectedChunk]:
        """The chunks that the generation must hold of these documents, by document and index."""
        found: list[ExpectedChunk] = []
        with self._database.read() as connection:
            for part in slices(doc_ids):
                query = (
                    select(*_EXPECTED)
                    .join(
                        indexed,
                        (indexed.c.corpus == ledger.c.corpus)
                        & (indexed.c.generation == ledger.c.generation)
                        & (indexed.c.doc_id == ledger.c.doc_id)
                        & (indexed.c.version == ledger.c.version),
                    )
                    .where(ledger.c.corpus == corpus, ledger.c.generation == generation)
                    .where(ledger.c.doc_id.in_(part))
                    .order_by(ledger.c.doc_id, ledger.c.chunk_index)
                )
                found += [ExpectedChunk(*row) for row in connection.execute(query)]
        return found


def _with_outcome() -> Select[tuple[object, ...]]:
    same = (
        (journal.c.corpus == ledger.c.corpus)
        & (journal.c.generation == ledger.c.generation)
        & (journal.c.doc_id == ledger.c.doc_id)
        & (journal.c.version == ledger.c.version)
    )
    return select(ledger, journal.c.outcome).outerjoin(journal, same)
