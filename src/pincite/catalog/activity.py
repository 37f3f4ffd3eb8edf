"""What was run and what was asked, in bounded space."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, delete, or_, select

from pincite.catalog.database import IN_LIST, Database, now_ms
from pincite.catalog.lookup_lines import LookupLine as LookupLine
from pincite.catalog.lookup_lines import Returned as Returned
from pincite.catalog.lookup_lines import line_of_row, row_of_line
from pincite.catalog.tables import lookups, runs

KEPT_LOOKUPS = 10_000
KEPT_RUNS = 1_000


@dataclass(frozen=True)
class Run:
    """One pipeline run; ``receipt`` as in the JSON contract."""

    run_id: str
    corpus: str
    action: str
    flow_run_id: str
    state: str
    receipt: dict[str, Any]
    started_at: int
    finished_at: int


class Activity:
    """Runs and lookups in the catalogue's database."""

    def __init__(self, database: Database, clock: Callable[[], int] = now_ms) -> None:
        self._database = database
        self._clock = clock

    def record_lookup(self, line: LookupLine) -> None:
        """Keep one line; the oldest go once there are ``KEPT_LOOKUPS``.

        Nobody should wait long for it: while another writer holds the database for more than
        100 ms the line is given up, and a power cut may take back the latest ones.

        Raises:
            CatalogUnreachable: The line was not taken.
        """
        row = {**row_of_line(line), "created_at": self._clock()}
        with self._database.note() as connection:
            new_id = connection.execute(lookups.insert().values(**row)).inserted_primary_key[0]  # type: ignore[index]
            connection.execute(delete(lookups).where(lookups.c.id <= new_id - KEPT_LOOKUPS))

    def lookups(
        self, corpus: str | None = None, limit: int = KEPT_LOOKUPS, *, blocks: bool = True
    ) -> list[LookupLine]:
        """The latest lookups, newest first.

        Args:
            corpus: Only those that asked this corpus, alone or among others.
            limit: How many at most.
            blocks: Whether to read what they returned; figures do without, four times as fast.
        """
        columns = [c for c in lookups.columns if blocks or c is not lookups.c.blocks]
        query = select(*columns).order_by(lookups.c.id.desc()).limit(limit)
        if corpus is not None:
            query = query.where(_asked(corpus))
        with self._database.read() as connection:
            return [line_of_row(row) for row in connection.execute(query).mappings()]

    def of_connection(self, connection: str, limit: int) -> list[LookupLine]:
        """The latest lookups of one connection, newest first; none without a name."""
        if not connection:
            return []
        query = (
            select(lookups)
            .where(lookups.c.connection == connection)
            .order_by(lookups.c.id.desc())
            .limit(limit)
        )
        with self._database.read() as connected:
            return [line_of_row(row) for row in connected.execute(query).mappings()]

    def lookup(self, trace_id: str) -> LookupLine | None:
        """The latest lookup with this trace id, ``None`` when none is kept."""
        query = (
            select(lookups)
            .where(lookups.c.trace_id == trace_id)
            .order_by(lookups.c.id.desc())
            .limit(1)
        )
        with self._database.read() as connection:
            row = connection.execute(query).mappings().one_or_none()
        return None if row is None else line_of_row(row)

    def record_run(self, run: Run) -> None:
        """Keep one run, in place of what was kept of it before.

        The oldest go once there are ``KEPT_RUNS``.
        """
        row = {**vars(run), "receipt": json.dumps(run.receipt, ensure_ascii=False)}
        latest = select(runs.c.run_id).order_by(runs.c.started_at.desc(), runs.c.run_id)
        with self._database.write() as connection:
            connection.execute(delete(runs).where(runs.c.run_id == run.run_id))
            connection.execute(runs.insert().values(**row))
            # A limit is needed beside the offset on MySQL; more than one is left only by a race.
            surplus = connection.execute(latest.offset(KEPT_RUNS).limit(IN_LIST)).scalars().all()
            if surplus:
                connection.execute(delete(runs).where(runs.c.run_id.in_(surplus)))

    def runs(self, limit: int = 10) -> Sequence[Run]:
        """The latest runs, newest first."""
        query = select(runs).order_by(runs.c.started_at.desc(), runs.c.run_id).limit(limit)
        with self._database.read() as connection:
            return [
                Run(**{**row, "receipt": json.loads(row["receipt"])})
                for row in connection.execute(query).mappings()
            ]


def _asked(corpus: str) -> ColumnElement[bool]:
    """Lines that name the corpus in their list."""
    names = lookups.c.corpus
    return or_(
        names == corpus,
        names.startswith(f"{corpus},", autoescape=True),
        names.endswith(f",{corpus}", autoescape=True),
        names.contains(f",{corpus},", autoescape=True),
    )
