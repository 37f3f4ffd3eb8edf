"""What is being written right now, and what was: one open row per document and generation.

A row is opened before the store is touched and closed by the stamp. A row left open by a
killed writer is how the next run knows what to put right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select, update

from pincite.catalog.database import Database, now_ms, slices
from pincite.catalog.leases import Writer, require_held
from pincite.catalog.slots import ABANDONED, generation_of, takeable
from pincite.catalog.tables import journal, ledger, versions

WRITE = "write"
REMOVE = "remove"


@dataclass(frozen=True)
class Draft:
    """A document version about to be written; ``record`` is its metadata as canonical JSON."""

    doc_id: str
    text_digest: str
    raw_sha256: str
    record: str


@dataclass(frozen=True)
class LedgerRow:
    """Where one chunk of a version stands in its kept text, and what it says."""

    evidence_key: str
    doc_id: str
    chunk_index: int
    content_sha256: str
    char_start: int
    char_end: int
    heading: str


@dataclass(frozen=True)
class Opened:
    """New version by document, and the documents that another writer is working on."""

    versions: dict[str, int]
    busy: frozenset[str]


@dataclass(frozen=True)
class Pending:
    """An open row that its writer left behind."""

    doc_id: str
    operation: str
    version: int


class Journal:
    """The journal in the catalogue's database."""

    def __init__(self, database: Database, clock: Callable[[], int] = now_ms) -> None:
        self._database = database
        self._clock = clock

    def open_writes(
        self, writer: Writer, drafts: Sequence[Draft], rows: Sequence[LedgerRow]
    ) -> Opened:
        """In one transaction: new version numbers, versions, ledger rows, open journal rows.

        Kept texts must be in place before: from the commit on, a reader may see the new rows.

        Raises:
            LeaseLost: Another writer took over.
        """

        def open_all(connection: Connection) -> Opened:
            now = self._clock()
            opened = self._open(connection, writer, WRITE, [d.doc_id for d in drafts], now)
            free = {draft.doc_id: draft for draft in drafts if draft.doc_id in opened.versions}
            numbers = opened.versions
            _insert(
                connection,
                versions,
                [_version_row(writer, draft, numbers, now) for draft in free.values()],
            )
            _insert(
                connection,
                ledger,
                [_ledger_row(writer, r, numbers, free[r.doc_id]) for r in rows if r.doc_id in free],
            )
            return opened

        return self._database.transact(open_all)

    def open_removals(self, writer: Writer, doc_ids: Sequence[str]) -> Opened:
        """Open tombstones; their version is one that no row of the store has yet.

        Raises:
            LeaseLost: Another writer took over.
        """
        return self._database.transact(
            lambda connection: self._open(connection, writer, REMOVE, doc_ids, self._clock())
        )

    def left_open(self, writer: Writer) -> list[Pending]:
        """Open rows of the generation whose writer is gone, oldest first."""
        query = (
            select(journal.c.doc_id, journal.c.operation, journal.c.version)
            .where(generation_of(writer), journal.c.open_slot == 1)
            .where(takeable(writer, self._clock()))
            .order_by(journal.c.id)
        )
        with self._database.read() as connection:
            return [Pending(*row) for row in connection.execute(query)]

    def let_go(self, writer: Writer) -> None:
        """Leave the writer's open rows to whoever comes next: it will not finish them."""
        with self._database.write() as connection:
            connection.execute(
                update(journal)
                .where(generation_of(writer), journal.c.open_slot == 1)
                .where(journal.c.owner == writer.owner)
                .values(expires_at=self._clock())
            )

    def open_versions(self, corpus: str, doc_id: str) -> frozenset[int]:
        """Versions of the document that are being written right now."""
        query = select(journal.c.version).where(
            journal.c.corpus == corpus, journal.c.doc_id == doc_id, journal.c.open_slot == 1
        )
        with self._database.read() as connection:
            return frozenset(connection.execute(query).scalars())

    def _free_slots(
        self, connection: Connection, writer: Writer, doc_ids: Sequence[str], now: int
    ) -> frozenset[str]:
        """Close rows left behind; the documents that a living writer holds stay busy."""
        busy: set[str] = set()
        for part in slices(doc_ids):
            mine = (generation_of(writer), journal.c.doc_id.in_(part), journal.c.open_slot == 1)
            connection.execute(
                update(journal)
                .where(*mine, takeable(writer, now))
                .values(open_slot=None, closed_at=now, outcome=ABANDONED)
            )
            busy.update(connection.execute(select(journal.c.doc_id).where(*mine)).scalars())
        return frozenset(busy)

    def _open(
        self,
        connection: Connection,
        writer: Writer,
        operation: str,
        doc_ids: Sequence[str],
        now: int,
    ) -> Opened:
        """Open a row of each document that no living writer holds."""
        require_held(connection, writer)
        busy = self._free_slots(connection, writer, doc_ids, now)
        free = [doc_id for doc_id in doc_ids if doc_id not in busy]
        numbers = _next_versions(connection, writer.corpus, free)
        common = {
            "corpus": writer.corpus,
            "generation": writer.generation,
            "operation": operation,
            "owner": writer.owner,
            "fence": writer.fence,
            "opened_at": now,
            "expires_at": writer.expiry(now),
            "open_slot": 1,
            "outcome": "",
        }
        rows = [{**common, "doc_id": d, "version": v} for d, v in numbers.items()]
        _insert(connection, journal, rows)
        return Opened(numbers, busy)


def _next_versions(connection: Connection, corpus: str, doc_ids: Sequence[str]) -> dict[str, int]:
    """One above the highest number that any version or tombstone of the document had."""
    highest: dict[str, int] = dict.fromkeys(doc_ids, 0)
    for table in (versions, journal):
        for part in slices(doc_ids):
            query = (
                select(table.c.doc_id, func.max(table.c.version))
                .where(table.c.corpus == corpus, table.c.doc_id.in_(part))
                .group_by(table.c.doc_id)
            )
            for doc_id, version in connection.execute(query):
                highest[doc_id] = max(highest[doc_id], version)
    return {doc_id: version + 1 for doc_id, version in highest.items()}


def _insert(connection: Connection, table: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(table.insert(), rows)


def _version_row(writer: Writer, draft: Draft, numbers: dict[str, int], now: int) -> dict[str, Any]:
    return {
        "corpus": writer.corpus,
        "doc_id": draft.doc_id,
        "version": numbers[draft.doc_id],
        "text_digest": draft.text_digest,
        "raw_sha256": draft.raw_sha256,
        "record": draft.record,
        "created_at": now,
    }


def _ledger_row(
    writer: Writer, row: LedgerRow, numbers: dict[str, int], draft: Draft
) -> dict[str, Any]:
    return {
        "corpus": writer.corpus,
        "generation": writer.generation,
        "evidence_key": row.evidence_key,
        "version": numbers[row.doc_id],
        "doc_id": row.doc_id,
        "chunk_index": row.chunk_index,
        "content_sha256": row.content_sha256,
        "text_digest": draft.text_digest,
        "char_start": row.char_start,
        "char_end": row.char_end,
        "heading": row.heading,
        "erased_at": 0,
    }
