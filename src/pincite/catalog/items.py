"""Items that come one by one, each with its owner: memory items and web results.

Their tables are the structured truth; what is in the store is made of them. An item is accepted
once its row is here, and stays ``PENDING`` until the store holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, func, or_, select, update

from pincite.catalog.database import Database, now_ms, slices
from pincite.catalog.tables import memory_items, web_results

PENDING = "PENDING"
INDEXED = "INDEXED"
FAILED = "FAILED"

# Where the writing of an item stands; a new or changed one begins like this.
_NEW = {"state": PENDING, "error_code": "", "attempts": 0}
TABLES = {"memory": memory_items, "web": web_results}

Row = dict[str, Any]


class Items:
    """The items of one corpus in the catalogue's database; rows are mappings of its columns."""

    def __init__(self, database: Database, table: Table, clock: Callable[[], int] = now_ms) -> None:
        self._database = database
        self._table = table
        self._clock = clock

    def put(self, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Accept items, each in place of the one with its ``doc_id``; returns them as they are now.

        ``created_at`` may be 0: the time of the item that was there, else now.
        """

        def write(connection: Connection) -> list[Row]:
            now = self._clock()
            known = self._read(connection, [row["doc_id"] for row in rows])
            accepted = [self._accepted(row, known.get(row["doc_id"]), now) for row in rows]
            self._drop(connection, list(known))
            if accepted:
                connection.execute(self._table.insert(), accepted)
            return accepted

        return self._database.transact(write)

    def as_put(self, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
        """What ``put`` would return; nothing is written."""
        now = self._clock()
        known = self.get([row["doc_id"] for row in rows])
        return [self._accepted(row, known.get(row["doc_id"]), now) for row in rows]

    def _accepted(self, row: Mapping[str, Any], known: Row | None, now: int) -> Row:
        created = row["created_at"] or (known["created_at"] if known else now)
        revision = known["revision"] + 1 if known else 1
        return {**row, **_NEW, "created_at": created, "revision": revision, "updated_at": now}

    def get(self, doc_ids: Sequence[str]) -> dict[str, Row]:
        """The items with these ids that there are, by id."""
        with self._database.read() as connection:
            return self._read(connection, doc_ids)

    def pending(self, limit: int) -> list[Row]:
        """What waits to be written: what was tried least first, of those the oldest."""
        table = self._table
        query = (
            select(table)
            .where(table.c.state == PENDING)
            .order_by(table.c.attempts, table.c.updated_at, table.c.doc_id)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def settle(self, rows: Sequence[Mapping[str, Any]], state: str, code: str = "") -> None:
        """Say where the writing of these items stands; one that changed meanwhile is left alone."""
        table = self._table
        with self._database.write() as connection:
            for row in rows:
                connection.execute(
                    update(table)
                    .where(table.c.doc_id == row["doc_id"], table.c.revision == row["revision"])
                    .values(state=state, error_code=code, attempts=table.c.attempts + 1)
                )

    def expired(self, limit: int) -> list[str]:
        """Ids of items that are expired now, by id."""
        table = self._table
        query = (
            select(table.c.doc_id)
            .where(table.c.expires_at > 0, table.c.expires_at <= self._clock())
            .order_by(table.c.doc_id)
            .limit(limit)
        )
        with self._database.read() as connection:
            return list(connection.execute(query).scalars())

    def forget(self, doc_ids: Sequence[str]) -> None:
        """Take these items out of the table."""
        with self._database.write() as connection:
            self._drop(connection, doc_ids)

    def remove_expired(self, doc_ids: Sequence[str]) -> None:
        """Forget these items, whose rows have left the store.

        One that came back to life meanwhile waits to be written again.
        """
        table = self._table
        with self._database.write() as connection:
            for part in slices(doc_ids):
                here = table.c.doc_id.in_(part)
                gone = (table.c.expires_at > 0) & (table.c.expires_at <= self._clock())
                connection.execute(delete(table).where(here, gone))
                again = {**_NEW, "revision": table.c.revision + 1}
                connection.execute(update(table).where(here).values(**again))

    def of_owner(
        self,
        owner: Mapping[str, str],
        limit: int,
        *,
        order: Sequence[str],
        kb_scope: str = "",
        excluded: Sequence[str] = (),
        max_sensitivity: int | None = None,
    ) -> list[Row]:
        """The live items of an owner, as ``order`` says: names of columns.

        ``-`` before a name is descending, ``+`` ascending with 0, which is unknown, at the end.

        Raises:
            ValueError: No owner is given; nobody may see everybody's.
        """
        if not owner:
            raise ValueError("items are read for one owner only")
        table = self._table
        wanted = [table.c[name] == value for name, value in owner.items()]
        wanted.append(or_(table.c.expires_at == 0, table.c.expires_at > self._clock()))
        if kb_scope:
            wanted.append(table.c.kb_scope == kb_scope)
        elif excluded:
            wanted.append(or_(table.c.kb_scope == "", table.c.kb_scope.not_in(list(excluded))))
        if max_sensitivity is not None:
            wanted.append(table.c.sensitivity_level <= max_sensitivity)
        query = select(table).where(and_(*wanted)).limit(limit)
        query = query.order_by(*chain.from_iterable(map(self._ordered, order)))
        with self._database.read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _ordered(self, name: str) -> list[ColumnElement[Any]]:
        column = self._table.c[name.lstrip("+-")]
        if name.startswith("-"):
            return [column.desc()]
        unknown = [(column == 0).asc()] if name.startswith("+") else []
        return [*unknown, column.asc()]

    def counts(self) -> dict[str, int]:
        """Items by state."""
        query = select(self._table.c.state, func.count()).group_by(self._table.c.state)
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def _read(self, connection: Connection, doc_ids: Sequence[str]) -> dict[str, Row]:
        found: dict[str, Row] = {}
        for part in slices(doc_ids):
            query = select(self._table).where(self._table.c.doc_id.in_(part))
            rows = connection.execute(query).mappings()
            found.update((row["doc_id"], dict(row)) for row in rows)
        return found

    def _drop(self, connection: Connection, doc_ids: Sequence[str]) -> None:
        for part in slices(doc_ids):
            connection.execute(delete(self._table).where(self._table.c.doc_id.in_(part)))
