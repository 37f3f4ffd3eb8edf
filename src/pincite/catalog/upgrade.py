"""Schema versions: how a catalogue that an older Pincite wrote is brought up to date in place.

A step first changes tables, in a way that can be repeated, and then fills what is new and
raises the version, in one transaction. Where tables change inside a transaction (SQLite,
PostgreSQL) all of it is one. MySQL commits with each change of a table; what a process that
died or came second left there is completed by the next.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, Row, String, inspect, select, update

from pincite.catalog.postings import posting_rows, put_postings
from pincite.catalog.tables import (
    SCHEMA_VERSION,
    catalog_version,
    corpora,
    documents,
    lookups,
    revisions,
)

logger = logging.getLogger(__name__)

_PAGE = 2_000


@dataclass(frozen=True)
class Upgrade:
    """One step to the next version. New tables are there already when it begins."""

    change: Callable[[Connection], None]
    fill: Callable[[Connection], None]


def upgrade(connection: Connection) -> None:
    """Inside a transaction that may write: bring the tables to ``SCHEMA_VERSION``."""
    while (version := _held_version(connection)) in UPGRADES:
        UPGRADES[version].change(connection)
        # Changing a table may have let the row go, and another process may have had it since.
        if _held_version(connection) == version:
            logger.info("the catalogue's tables go from version %s to %s", version, version + 1)
            UPGRADES[version].fill(connection)
            connection.execute(update(catalog_version).values(version=version + 1))
    if version is None:
        connection.execute(catalog_version.insert().values(version=SCHEMA_VERSION))


def _held_version(connection: Connection) -> int | None:
    """The version; other processes that come to upgrade wait until the transaction ends."""
    query = select(catalog_version.c.version).with_for_update()
    found: int | None = connection.execute(query).scalar()
    return found


def _widen_lookups(connection: Connection) -> None:
    """Versions 2 and 3: a line of a lookup says more, and is found by more."""
    # Alembic is needed once in the life of a catalogue.
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext

    operations = Operations(MigrationContext.configure(connection))
    schema = inspect(connection)
    there = {column["name"] for column in schema.get_columns(lookups.name)}
    for column in lookups.columns:
        if column.name not in there:
            operations.add_column(lookups.name, Column(column.name, column.type, nullable=True))
    if connection.dialect.name != "sqlite":
        # SQLite's text is exact as it is.
        operations.alter_column(
            lookups.name,
            "trace_id",
            type_=lookups.c.trace_id.type,
            existing_type=String(64),
            existing_nullable=False,
        )
    indexes = {index["name"] for index in schema.get_indexes(lookups.name)}
    for index in lookups.indexes:
        if index.name not in indexes:
            columns = [column.name for column in index.columns]
            operations.create_index(index.name, lookups.name, columns)


def _fill_l0(connection: Connection) -> None:
    """Version 2: the phrases of the documents that are there, and a revision of each corpus."""
    for corpus in list(connection.execute(select(corpora.c.corpus)).scalars()):
        for page in _pages(connection, corpus):
            put_postings(connection, [posting for row in page for posting in _postings(row)])
        connection.execute(revisions.insert().values(corpus=corpus, revision=1))


def _pages(connection: Connection, corpus: str) -> Iterator[Sequence[Row[Any]]]:
    after = ""
    while True:
        query = (
            select(documents)
            .where(documents.c.corpus == corpus, documents.c.doc_id > after)
            .order_by(documents.c.doc_id)
            .limit(_PAGE)
        )
        page = connection.execute(query).all()
        if not page:
            return
        yield page
        after = page[-1].doc_id


def _postings(row: Row[Any]) -> list[dict[str, str]]:
    record = dict(row._mapping)
    record.update({name: json.loads(record[name]) for name in ("keywords", "tags", "aliases")})
    return posting_rows(row.corpus, row.doc_id, record)


def _nothing(connection: Connection) -> None:
    """The new tables begin empty."""


UPGRADES = {1: Upgrade(_widen_lookups, _fill_l0), 2: Upgrade(_widen_lookups, _nothing)}
