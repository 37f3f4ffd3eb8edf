"""Revisions: a number of each corpus that changes with whatever a reader could see."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from pincite.catalog.database import Database
from pincite.catalog.tables import revisions


def bump(connection: Connection, corpus: str) -> None:
    """Inside a transaction, as its last statement: the corpus changes with its commit.

    Last, because other writers of the corpus wait from here on until the commit. The
    transaction must be one that is begun anew on a conflict (``Database.transact``): two first
    changes of a corpus meet at the same row.
    """
    changed = connection.execute(
        update(revisions)
        .where(revisions.c.corpus == corpus)
        .values(revision=revisions.c.revision + 1)
    )
    if not changed.rowcount:
        connection.execute(revisions.insert().values(corpus=corpus, revision=1))


def revision_of(database: Database, corpus: str) -> int:
    """The revision of the corpus, 0 before its first change."""
    query = select(revisions.c.revision).where(revisions.c.corpus == corpus)
    with database.read() as connection:
        return connection.execute(query).scalar() or 0
