"""Open journal rows: whose they are, who may take them, and how they close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, select, update

from pincite.catalog.database import slices
from pincite.catalog.leases import Writer, require_held
from pincite.catalog.tables import journal
from pincite.errors import LeaseLost

STAMPED = "stamped"
REMOVED = "removed"
FAILED = "failed"
ABANDONED = "abandoned"


def close_rows(
    connection: Connection, writer: Writer, doc_ids: Sequence[str], outcome: str, now: int
) -> None:
    """Inside a transaction: close the writer's open rows of these documents.

    Raises:
        LeaseLost: A row is no longer the writer's.
    """
    require_held(connection, writer)
    closed = 0
    for part in slices(doc_ids):
        closed += connection.execute(
            update(journal)
            .where(generation_of(writer), journal.c.doc_id.in_(part))
            .where(journal.c.owner == writer.owner, journal.c.open_slot == 1)
            .values(open_slot=None, closed_at=now, outcome=outcome)
        ).rowcount
    if closed != len(doc_ids):
        raise LeaseLost(
            f"{len(doc_ids) - closed} documents of corpus {writer.corpus!r} went to another run."
        )


def require_open(connection: Connection, writer: Writer, numbers: Mapping[str, int]) -> None:
    """Inside a transaction: the writer's open rows carry just these versions, by document.

    A writer whose call was repeated while the first one still ran may hold a later version
    than the one it wrote; to stamp that would make the ledger disown what the store holds.

    Raises:
        LeaseLost: A row is another writer's, or of another version.
    """
    found: dict[str, int] = {}
    for part in slices(list(numbers)):
        query = (
            select(journal.c.doc_id, journal.c.version)
            .where(generation_of(writer), journal.c.doc_id.in_(part))
            .where(journal.c.owner == writer.owner, journal.c.open_slot == 1)
        )
        found.update((row.doc_id, row.version) for row in connection.execute(query))
    lost = [doc_id for doc_id, version in numbers.items() if found.get(doc_id) != version]
    if lost:
        raise LeaseLost(f"{len(lost)} documents of corpus {writer.corpus!r} went to another run.")


def generation_of(writer: Writer) -> ColumnElement[bool]:
    """Rows of the corpus and generation that the writer writes into."""
    return (journal.c.corpus == writer.corpus) & (journal.c.generation == writer.generation)


def takeable(writer: Writer, now: int) -> ColumnElement[bool]:
    """Rows of a writer that is gone: the own run, expired, or a lease that this one replaced."""
    replaced = (journal.c.fence > 0) & (journal.c.fence < writer.fence)
    return (journal.c.owner == writer.owner) | (journal.c.expires_at <= now) | replaced
