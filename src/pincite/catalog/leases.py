"""The right to write into a generation: one holder, with expiry and a fencing token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, select, update

from pincite.catalog.database import Database, now_ms
from pincite.catalog.tables import journal, leases
from pincite.errors import CorpusBusy, LeaseLost


@dataclass(frozen=True)
class Writer:
    """Who writes where. ``fence`` grows with every new holder of the lease."""

    corpus: str
    generation: int
    owner: str
    fence: int
    ttl_ms: int

    def expiry(self, now: int) -> int:
        return now + self.ttl_ms


class Leases:
    """Leases in the catalogue's database."""

    def __init__(self, database: Database, clock: Callable[[], int] = now_ms) -> None:
        self._database = database
        self._clock = clock

    def acquire(self, corpus: str, generation: int, owner: str, ttl_ms: int) -> Writer:
        """Take the lease, or a lease that ran out.

        Raises:
            CorpusBusy: Another writer holds it.
        """

        def take(connection: Connection) -> Writer:
            now = self._clock()
            held = connection.execute(
                select(leases).where(_of(corpus, generation)).with_for_update()
            ).one_or_none()
            if held is None:
                writer = Writer(corpus, generation, owner, 1, ttl_ms)
                connection.execute(leases.insert().values(_row(writer, now)))
                return writer
            if held.owner and held.expires_at > now:
                raise _busy(corpus, generation, held.expires_at - now)
            writer = Writer(corpus, generation, owner, held.fence + 1, ttl_ms)
            connection.execute(
                update(leases).where(_of(corpus, generation)).values(_row(writer, now))
            )
            return writer

        return self._database.transact(take)

    def renew(self, writer: Writer) -> None:
        """Push the expiry of the lease and of the writer's open journal rows.

        Raises:
            LeaseLost: Another writer took the lease over.
        """
        with self._database.write() as connection:
            expires_at = writer.expiry(self._clock())
            changed = connection.execute(
                update(leases).where(*_held_by(writer)).values(expires_at=expires_at)
            )
            if changed.rowcount != 1:
                raise LeaseLost(f"The lease of corpus {writer.corpus!r} went to another run.")
            connection.execute(
                update(journal)
                .where(
                    journal.c.corpus == writer.corpus,
                    journal.c.generation == writer.generation,
                    journal.c.owner == writer.owner,
                    journal.c.open_slot == 1,
                )
                .values(expires_at=expires_at)
            )

    def release(self, writer: Writer) -> None:
        """Give the lease back; no error when it is no longer held."""
        with self._database.write() as connection:
            connection.execute(
                update(leases).where(*_held_by(writer)).values(owner="", expires_at=0)
            )


def require_held(connection: Connection, writer: Writer) -> None:
    """Inside a transaction: the writer still holds its lease.

    Online writers have no lease (``fence == 0``); their journal rows are their right to write.

    Raises:
        LeaseLost: Another writer took the lease over.
    """
    if writer.fence == 0:
        return
    held = connection.execute(
        select(leases.c.fence).where(*_held_by(writer)).with_for_update()
    ).scalar()
    if held is None:
        raise LeaseLost(f"The lease of corpus {writer.corpus!r} went to another run.")


def _row(writer: Writer, now: int) -> dict[str, str | int]:
    return {
        "corpus": writer.corpus,
        "generation": writer.generation,
        "owner": writer.owner,
        "fence": writer.fence,
        "expires_at": writer.expiry(now),
    }


def _busy(corpus: str, generation: int, left_ms: int) -> CorpusBusy:
    return CorpusBusy(
        f"Corpus {corpus!r}, generation {generation}, is being written by another run"
        f" (its lease ends in {left_ms / 1000:.0f} s unless renewed).",
        corpus=corpus,
    )


def _of(corpus: str, generation: int) -> ColumnElement[bool]:
    return (leases.c.corpus == corpus) & (leases.c.generation == generation)


def _held_by(writer: Writer) -> tuple[ColumnElement[bool], ...]:
    return (
        _of(writer.corpus, writer.generation),
        leases.c.owner == writer.owner,
        leases.c.fence == writer.fence,
    )
