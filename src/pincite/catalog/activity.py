"""What was run and what was asked, in bounded space."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select

from pincite.catalog.database import IN_LIST, Database, now_ms
from pincite.catalog.tables import lookups, runs

KEPT_LOOKUPS = 10_000
KEPT_RUNS = 1_000


@dataclass(frozen=True)
class LookupLine:
    """One answered lookup, without its query."""

    trace_id: str
    corpus: str
    latency_ms: int
    evidence_status: str
    hit_count: int
    fallback_reason: str
    degradations: tuple[str, ...]


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
        """Keep one line; the oldest go once there are ``KEPT_LOOKUPS``."""
        with self._database.write() as connection:
            new_id = connection.execute(
                lookups.insert().values(
                    trace_id=line.trace_id,
                    corpus=line.corpus,
                    created_at=self._clock(),
                    latency_ms=line.latency_ms,
                    evidence_status=line.evidence_status,
                    hit_count=line.hit_count,
                    fallback_reason=line.fallback_reason,
                    degradations=json.dumps(line.degradations),
                )
            ).inserted_primary_key[0]  # type: ignore[index]
            connection.execute(delete(lookups).where(lookups.c.id <= new_id - KEPT_LOOKUPS))

    def lookups(self, corpus: str, limit: int = KEPT_LOOKUPS) -> list[LookupLine]:
        """The latest lookups of a corpus, newest first."""
        query = (
            select(lookups)
            .where(lookups.c.corpus == corpus)
            .order_by(lookups.c.id.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            return [
                LookupLine(
                    row.trace_id,
                    row.corpus,
                    row.latency_ms,
                    row.evidence_status,
                    row.hit_count,
                    row.fallback_reason,
                    tuple(json.loads(row.degradations)),
                )
                for row in connection.execute(query)
            ]

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
