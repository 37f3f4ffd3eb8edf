"""How long the ledger and the journal remember: what nobody needs any more is trimmed.

A text stays citable for as long as a generation holds it, and then for the time of retention,
counted from when it was superseded or removed: it was shown until then. With its ledger rows go
the version as it was read and the journal row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    or_,
    select,
)

from pincite.catalog.database import Database
from pincite.catalog.in_lists import IN_LIST
from pincite.catalog.slots import REMOVED, STAMPED
from pincite.catalog.tables import generations, indexed, journal, ledger, versions


@dataclass(frozen=True)
class Trimmed:
    """How many rows are gone."""

    ledger: int = 0
    versions: int = 0
    journal: int = 0

    def __add__(self, other: Trimmed) -> Trimmed:
        return Trimmed(
            self.ledger + other.ledger,
            self.versions + other.versions,
            self.journal + other.journal,
        )

    def as_dict(self) -> dict[str, int]:
        """The JSON object."""
        return dict(vars(self))


class _Spent(NamedTuple):
    """A journal row whose text nobody needs any more."""

    id: int
    corpus: str
    generation: int
    doc_id: str
    version: int
    outcome: str


def trim(database: Database, before_ms: int) -> Trimmed:
    """Forget texts that were superseded or removed before a time, page by page.

    Kept are what a generation holds, what is being written, and of each document the row that
    keeps its version numbers growing, unless the document is gone from every generation.

    Args:
        database: The catalogue's.
        before_ms: Epoch ms.

    Raises:
        CatalogUnreachable: The database does not answer; the pages before are done.
    """
    done = Trimmed()
    after = 0
    while True:
        query = _spent(before_ms).where(journal.c.id > after).order_by(journal.c.id).limit(IN_LIST)
        with database.read() as connection:
            page = [_Spent(*row) for row in connection.execute(query)]
        if not page:
            return done
        done += database.transact(partial(_forget, page))
        after = page[-1].id


def _spent(before_ms: int) -> Select[Any]:
    """Closed rows whose text no generation holds, and that ended before the time.

    A row comes after those that it superseded: they still find it when they are asked about.
    """
    columns = [journal.c[name] for name in _Spent._fields]
    ended = or_(journal.c.outcome != STAMPED, _superseded(before_ms))
    return select(*columns).where(
        journal.c.open_slot.is_(None), journal.c.closed_at < before_ms, ~_held(), ended
    )


def _held() -> ColumnElement[bool]:
    """Whether a generation holds the row's version."""
    return exists().where(
        indexed.c.corpus == journal.c.corpus,
        indexed.c.generation == journal.c.generation,
        indexed.c.doc_id == journal.c.doc_id,
        indexed.c.version == journal.c.version,
    )


def _superseded(before_ms: int) -> ColumnElement[bool]:
    """Whether a later version, or the removal, came before the time.

    In the same generation: another one may be built long before it is live. Once the generation
    is gone, any will do.
    """
    later = journal.alias("later")
    generation_there = (
        exists()
        .where(
            generations.c.corpus == journal.c.corpus,
            generations.c.generation == journal.c.generation,
        )
        .correlate(journal)
    )
    return exists().where(
        _same_document(later),
        later.c.version > journal.c.version,
        later.c.outcome.in_((STAMPED, REMOVED)),
        later.c.closed_at < before_ms,
        or_(later.c.generation == journal.c.generation, ~generation_there),
    )


def _same_document(other: Any) -> ColumnElement[bool]:
    return and_(other.c.corpus == journal.c.corpus, other.c.doc_id == journal.c.doc_id)


def _forget(page: Sequence[_Spent], connection: Connection) -> Trimmed:
    of_version = ("corpus", "doc_id", "version")
    in_ledger = _delete_of(connection, ledger, (*of_version, "generation"), page)
    in_versions = _delete_of(connection, versions, of_version, page)
    in_journal = _delete_rows(connection, _outnumbered(connection, page))
    in_journal += _delete_rows(connection, _last_of_nothing(connection, page))
    return Trimmed(in_ledger, in_versions, in_journal)


def _delete_of(
    connection: Connection, table: Table, names: Sequence[str], page: Sequence[_Spent]
) -> int:
    """Delete the rows that agree with one of the page in these columns; returns how many."""
    same = [table.c[name] == bindparam(f"_{name}") for name in names]
    values = [{f"_{name}": getattr(one, name) for name in names} for one in page]
    return connection.execute(delete(table).where(*same), values).rowcount


def _outnumbered(connection: Connection, page: Sequence[_Spent]) -> list[int]:
    """Rows of documents that have a row with a higher version."""
    later = journal.alias("later")
    higher = exists().where(_same_document(later), later.c.version > journal.c.version)
    return _those(connection, [one.id for one in page], higher)


def _last_of_nothing(connection: Connection, page: Sequence[_Spent]) -> list[int]:
    """Tombstones that are all that is left of their document; numbers may begin anew.

    The removal was confirmed in the store. After anything else a row may be left there.
    """
    other = journal.alias("other")
    is_alone = ~exists().where(_same_document(other), other.c.id != journal.c.id)
    is_held = exists().where(_same_document(indexed))
    tombstones = [one.id for one in page if one.outcome == REMOVED]
    return _those(connection, tombstones, is_alone & ~is_held)


def _those(connection: Connection, ids: list[int], condition: ColumnElement[bool]) -> list[int]:
    query = select(journal.c.id).where(journal.c.id.in_(ids), condition)
    return list(connection.execute(query).scalars())


def _delete_rows(connection: Connection, ids: list[int]) -> int:
    if not ids:
        return 0
    return connection.execute(delete(journal).where(journal.c.id.in_(ids))).rowcount
