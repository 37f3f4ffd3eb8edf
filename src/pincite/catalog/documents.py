"""What each generation holds of each document, and the documents' L0 metadata."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, Table, delete, func, select, update

from pincite.catalog.database import Database, now_ms, slices
from pincite.catalog.document_rows import Failure as Failure
from pincite.catalog.document_rows import Stamp as Stamp
from pincite.catalog.document_rows import failed_row, indexed_row, l0_row, term_rows
from pincite.catalog.leases import Writer, require_held
from pincite.catalog.postings import drop_postings, put_postings
from pincite.catalog.revisions import bump
from pincite.catalog.slots import FAILED as JOURNAL_FAILED
from pincite.catalog.slots import REMOVED, STAMPED, close_rows, require_open
from pincite.catalog.tables import documents, indexed, versions

INDEXED = "INDEXED"
EMPTY = "EMPTY"
FAILED = "FAILED"


@dataclass(frozen=True)
class Indexed:
    """What a generation holds of one document. ``version == 0``: nothing yet."""

    doc_id: str
    kb_scope: str
    source_name: str
    source: str
    fingerprint: str
    version: int
    chunk_count: int
    digest: str
    state: str
    error_code: str
    error_message: str
    attempts: int


@dataclass(frozen=True)
class Version:
    """One version of a document as it was read."""

    doc_id: str
    version: int
    text_digest: str
    raw_sha256: str
    record: dict[str, Any]


_COLUMNS = [indexed.c[name] for name in Indexed.__dataclass_fields__]


class Documents:
    """Documents in the catalogue's database."""

    def __init__(self, database: Database, clock: Callable[[], int] = now_ms) -> None:
        self._database = database
        self._clock = clock

    def held(self, corpus: str, generation: int, doc_ids: Sequence[str]) -> dict[str, Indexed]:
        """What the generation holds of these documents, by id."""
        found: dict[str, Indexed] = {}
        with self._database.read() as connection:
            for part in slices(doc_ids):
                query = select(*_COLUMNS).where(
                    _of(indexed, corpus, generation), indexed.c.doc_id.in_(part)
                )
                found.update((row.doc_id, Indexed(*row)) for row in connection.execute(query))
        return found

    def of_source(
        self, corpus: str, generation: int, source_name: str, kb_scope: str
    ) -> list[Indexed]:
        """Everything that came from one source and scope, by id."""
        query = (
            select(*_COLUMNS)
            .where(_of(indexed, corpus, generation))
            .where(indexed.c.source_name == source_name, indexed.c.kb_scope == kb_scope)
            .order_by(indexed.c.doc_id)
        )
        with self._database.read() as connection:
            return [Indexed(*row) for row in connection.execute(query)]

    def pages(self, corpus: str, generation: int, size: int = 500) -> Iterator[list[Indexed]]:
        """All documents of a generation in pages, ordered by id."""
        after = ""
        while True:
            query = (
                select(*_COLUMNS)
                .where(_of(indexed, corpus, generation), indexed.c.doc_id > after)
                .order_by(indexed.c.doc_id)
                .limit(size)
            )
            with self._database.read() as connection:
                page = [Indexed(*row) for row in connection.execute(query)]
            if not page:
                return
            yield page
            after = page[-1].doc_id

    def known_sources(self, corpus: str, sources: Sequence[str]) -> set[str]:
        """Those of the sources that a document of the corpus has."""
        return self._known(documents.c.source, corpus, sources)

    def known_ids(self, corpus: str, doc_ids: Sequence[str]) -> set[str]:
        """Those of the ids that a document of the corpus has."""
        return self._known(documents.c.doc_id, corpus, doc_ids)

    def _known(self, column: Column[str], corpus: str, values: Sequence[str]) -> set[str]:
        found: set[str] = set()
        with self._database.read() as connection:
            for part in slices(values):
                query = select(column).where(documents.c.corpus == corpus, column.in_(part))
                found.update(connection.execute(query).scalars())
        return found

    def count_states(self, corpus: str, generation: int) -> dict[str, int]:
        """Documents and chunks: ``{state: documents}`` plus ``"chunks"``."""
        query = (
            select(indexed.c.state, func.count(), func.sum(indexed.c.chunk_count))
            .where(_of(indexed, corpus, generation))
            .group_by(indexed.c.state)
        )
        counts: Counter[str] = Counter()
        with self._database.read() as connection:
            for state, number, chunks in connection.execute(query):
                counts[state] += number
                counts["chunks"] += int(chunks or 0)
        return dict(counts)

    def failed(self, corpus: str, generation: int, limit: int) -> list[Indexed]:
        """Documents whose last try failed, by id, at most ``limit``."""
        query = (
            select(*_COLUMNS)
            .where(_of(indexed, corpus, generation), indexed.c.state == FAILED)
            .order_by(indexed.c.doc_id)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [Indexed(*row) for row in connection.execute(query)]

    def version(self, corpus: str, doc_id: str, version: int) -> Version | None:
        """One version as it was read, ``None`` when it was never journalled."""
        query = select(versions).where(
            versions.c.corpus == corpus, versions.c.doc_id == doc_id, versions.c.version == version
        )
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return None
        record = json.loads(row.record)
        return Version(row.doc_id, row.version, row.text_digest, row.raw_sha256, record)

    def records(self, corpus: str, numbers: Mapping[str, int]) -> dict[str, dict[str, Any]]:
        """The records of these versions of documents, by document."""
        found: dict[str, dict[str, Any]] = {}
        with self._database.read() as connection:
            for part in slices(list(numbers)):
                query = select(versions.c.doc_id, versions.c.version, versions.c.record).where(
                    versions.c.corpus == corpus, versions.c.doc_id.in_(part)
                )
                for row in connection.execute(query):
                    if row.version == numbers[row.doc_id]:
                        found[row.doc_id] = json.loads(row.record)
        return found

    def stamp(self, writer: Writer, stamps: Sequence[Stamp]) -> None:
        """In one transaction: fingerprint, version, L0 metadata and phrases; journal rows close.

        Raises:
            LeaseLost: Another writer took over; nothing is stamped.
        """
        if not stamps:
            return
        numbers = {stamp.doc_id: stamp.version for stamp in stamps}
        # Before the transaction: other writers need not wait for the analysis.
        terms = [row for stamp in stamps for row in term_rows(writer, stamp)]

        def put(connection: Connection) -> None:
            now = self._clock()
            require_open(connection, writer, numbers)
            close_rows(connection, writer, list(numbers), STAMPED, now)
            _forget(connection, writer, list(numbers))
            connection.execute(indexed.insert(), [indexed_row(writer, s, now) for s in stamps])
            connection.execute(documents.insert(), [l0_row(writer, s, now) for s in stamps])
            put_postings(connection, terms)
            bump(connection, writer.corpus)

        self._database.transact(put)

    def stamp_removed(self, writer: Writer, doc_ids: Sequence[str]) -> None:
        """In one transaction: the documents are gone; their journal rows become tombstones.

        Raises:
            LeaseLost: Another writer took over; nothing is stamped.
        """
        if not doc_ids:
            return

        def drop(connection: Connection) -> None:
            close_rows(connection, writer, doc_ids, REMOVED, self._clock())
            _forget(connection, writer, doc_ids)
            bump(connection, writer.corpus)

        self._database.transact(drop)

    def fail(self, writer: Writer, failures: Sequence[Failure], journalled: frozenset[str]) -> None:
        """Record failures; what the generation held of the documents before stays stamped.

        Args:
            writer: Who writes.
            failures: One per document.
            journalled: Documents whose open journal row closes with this: the store was not
                touched. A row whose store state is unknown must stay open.
        """
        if not failures:
            return

        def put(connection: Connection) -> None:
            now = self._clock()
            require_held(connection, writer)
            close_rows(connection, writer, sorted(journalled), JOURNAL_FAILED, now)
            for failure in failures:
                self._fail_one(connection, writer, failure, now)

        self._database.transact(put)

    def _fail_one(self, connection: Connection, writer: Writer, failure: Failure, now: int) -> None:
        error = {
            "state": FAILED,
            "error_code": failure.code,
            "error_message": failure.message,
            "updated_at": now,
        }
        changed = connection.execute(
            update(indexed)
            .where(_of(indexed, writer.corpus, writer.generation))
            .where(indexed.c.doc_id == failure.doc_id)
            .values(attempts=indexed.c.attempts + 1, **error)
        ).rowcount
        if not changed:
            connection.execute(indexed.insert().values(failed_row(writer, failure, error)))


def _of(table: Table, corpus: str, generation: int) -> Any:
    return (table.c.corpus == corpus) & (table.c.generation == generation)


def _forget(connection: Connection, writer: Writer, doc_ids: Sequence[str]) -> None:
    for part in slices(doc_ids):
        connection.execute(
            delete(indexed)
            .where(_of(indexed, writer.corpus, writer.generation))
            .where(indexed.c.doc_id.in_(part))
        )
        connection.execute(
            delete(documents)
            .where(documents.c.corpus == writer.corpus)
            .where(documents.c.doc_id.in_(part))
        )
    drop_postings(connection, writer.corpus, doc_ids)
