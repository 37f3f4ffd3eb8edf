"""One SQL database: its tables, and the transactions on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection, Engine, exc, inspect, select

from pincite.catalog.engines import WRITES, open_engine
from pincite.catalog.in_lists import IN_LIST as IN_LIST
from pincite.catalog.in_lists import slices as slices
from pincite.catalog.tables import METADATA, SCHEMA_VERSION, catalog_version
from pincite.catalog.upgrade import UPGRADES, upgrade
from pincite.errors import CatalogUnreachable, ConfigInvalid

CONFLICT_TRIES = 5
CREATE_TRIES = 20
CREATE_PAUSE_S = 0.1
NOTE_PATIENCE_MS = 100

T = TypeVar("T")


def now_ms() -> int:
    """Epoch milliseconds, UTC."""
    return time.time_ns() // 1_000_000


class Database:
    """Opens the catalogue's database; makes its tables, or brings older ones up to date.

    Args:
        url: SQLAlchemy URL; SQLite files are made with their folder.

    Raises:
        ConfigInvalid: The URL names no usable dialect, or the tables are of a newer version.
        CatalogUnreachable: The database does not answer.
    """

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url)
        self._notes = open_engine(url, NOTE_PATIENCE_MS)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def read(self, timeout_s: float | None = None) -> Iterator[Connection]:
        """A connection for reading; each statement sees one committed state.

        Args:
            timeout_s: What a statement may take on PostgreSQL; others have no such bound.
        """
        with _connected(self._engine) as connection:
            if timeout_s is not None and connection.dialect.name == "postgresql":
                milliseconds = max(1, round(timeout_s * 1000))
                connection.exec_driver_sql(f"SET LOCAL statement_timeout = {milliseconds}")
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction: committed at the end, rolled back by an exception."""
        with _transaction(self._engine) as connection:
            yield connection

    @contextmanager
    def note(self) -> Iterator[Connection]:
        """One transaction that waits 100 ms for other writers and then raises.

        Its commit does not wait for the disk: a power cut may take it back.
        """
        with _transaction(self._notes) as connection:
            yield connection

    def transact(self, work: Callable[[Connection], T]) -> T:
        """``work`` in one transaction, begun anew when another writer's row came in between.

        Where transactions run side by side, two that look for a row, find none and insert it
        meet at the unique index; the second finds the row when it looks again. Of two that wait
        for each other the database takes one back.
        """
        for _ in range(CONFLICT_TRIES - 1):
            try:
                with self.write() as connection:
                    return work(connection)
            except exc.IntegrityError:
                continue
            except CatalogUnreachable as error:
                if not error.attributes.get("conflict"):
                    raise
        with self.write() as connection:
            return work(connection)

    def close(self) -> None:
        self._notes.dispose()
        self._engine.dispose()

    def _prepare(self) -> None:
        """Make or upgrade the tables where needed; several processes may come at once."""
        for _ in range(CREATE_TRIES):
            if self._is_prepared():
                return
            try:
                with self.write() as connection:
                    METADATA.create_all(connection)
                    upgrade(connection)
            except (exc.DBAPIError, CatalogUnreachable) as error:
                # Another process is making them: on MySQL that is no single transaction.
                failure: Exception = error
                time.sleep(CREATE_PAUSE_S)
        if not self._is_prepared():
            raise CatalogUnreachable(
                f"The catalogue's tables cannot be made ({type(failure).__name__}).",
                "Give the database user the right to create tables, and look at its log.",
            ) from failure

    def _is_prepared(self) -> bool:
        with self.read() as connection:
            there = set(inspect(connection).get_table_names())
            if catalog_version.name not in there:
                return False
            found = connection.execute(select(catalog_version.c.version)).scalar()
        if found not in (None, SCHEMA_VERSION, *UPGRADES):
            raise ConfigInvalid(
                f"The catalogue has schema version {found}, this Pincite reads {SCHEMA_VERSION}.",
                "Use the Pincite version that wrote the catalogue, or another [catalog] url.",
            )
        return found == SCHEMA_VERSION and there.issuperset(METADATA.tables)


@contextmanager
def _connected(engine: Engine) -> Iterator[Connection]:
    try:
        connection = engine.connect()
    except exc.TimeoutError as error:
        raise CatalogUnreachable("No connection to the catalogue became free.") from error
    with connection:
        yield connection


@contextmanager
def _transaction(engine: Engine) -> Iterator[Connection]:
    with _connected(engine) as connection:
        writer = connection.execution_options(**{WRITES: True})
        with writer.begin():
            yield writer
