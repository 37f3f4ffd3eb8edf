"""Where core and legacy path both ran: how they differed, in bounded space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import delete, select

from pincite.catalog.database import Database, now_ms
from pincite.catalog.tables import shadows

KEPT_SHADOWS = 10_000


@dataclass(frozen=True)
class ShadowLine:
    """One lookup on both paths: figures over the first ``n`` of each, latencies in ms.

    ``overlap`` is in [0, 1], ``correlation`` (Spearman) in [-1, 1]; ``None`` where there is
    nothing to compare. ``error_code`` is what the core failed with.
    """

    corpus: str
    n: int
    overlap: float | None
    correlation: float | None
    legacy_ms: int
    core_ms: int
    error_code: str = ""
    created_at: int = 0


_COLUMNS = [shadows.c[name] for name in ShadowLine.__dataclass_fields__]


class Shadows:
    """The lines in the catalogue's database."""

    def __init__(self, database: Database, clock: Callable[[], int] = now_ms) -> None:
        self._database = database
        self._clock = clock

    def record(self, line: ShadowLine) -> None:
        """Keep one line; the oldest go once there are ``KEPT_SHADOWS``.

        Raises:
            CatalogUnreachable: The line was not taken.
        """
        row = {**vars(line), "created_at": self._clock()}
        with self._database.note() as connection:
            new_id = connection.execute(shadows.insert().values(**row)).inserted_primary_key[0]  # type: ignore[index]
            connection.execute(delete(shadows).where(shadows.c.id <= new_id - KEPT_SHADOWS))

    def lines(self, corpus: str, since: int = 0, limit: int = KEPT_SHADOWS) -> list[ShadowLine]:
        """The latest lines of a corpus, newest first; ``since`` is epoch ms."""
        query = (
            select(*_COLUMNS)
            .where(shadows.c.corpus == corpus, shadows.c.created_at >= since)
            .order_by(shadows.c.id.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            return [ShadowLine(*row) for row in connection.execute(query)]
