"""One SQL database: connections, transactions and the mapping of its errors."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, exc, inspect, select
from sqlalchemy.engine import URL, ExceptionContext, make_url

from pincite.catalog.tables import METADATA, SCHEMA_VERSION, catalog_version
from pincite.errors import CatalogUnreachable, ConfigInvalid

IN_LIST = 500
CONFLICT_TRIES = 5
CREATE_TRIES = 20
CREATE_PAUSE_S = 0.1
_WRITES = "pincite_writes"
_LOCKED = ("SQLITE_BUSY", "SQLITE_BUSY_RECOVERY", "SQLITE_LOCKED")

T = TypeVar("T")


def now_ms() -> int:
    """Epoch milliseconds, UTC."""
    return time.time_ns() // 1_000_000


def slices(values: Sequence[T], size: int = IN_LIST) -> Iterator[Sequence[T]]:
    """Consecutive parts of at most ``size``: databases bound the length of an IN list."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


class Database:
    """Opens the catalogue's database and creates its tables on first use.

    Args:
        url: SQLAlchemy URL; SQLite files are made with their folder.

    Raises:
        ConfigInvalid: The URL names no usable dialect, or the tables are of a newer version.
        CatalogUnreachable: The database does not answer.
    """

    def __init__(self, url: str) -> None:
        self._engine = _open(url)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading; each statement sees one committed state."""
        with self._connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction: committed at the end, rolled back by an exception."""
        with self._connect() as connection:
            writer = connection.execution_options(**{_WRITES: True})
            with writer.begin():
                yield writer

    def transact(self, work: Callable[[Connection], T]) -> T:
        """``work`` in one transaction, begun anew when another writer's row came in between.

        Where transactions run side by side, two that look for a row, find none and insert it
        meet at the unique index; the second finds the row when it looks again.
        """
        for _ in range(CONFLICT_TRIES - 1):
            try:
                with self.write() as connection:
                    return work(connection)
            except exc.IntegrityError:
                continue
        with self.write() as connection:
            return work(connection)

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        try:
            connection = self._engine.connect()
        except exc.TimeoutError as error:
            raise CatalogUnreachable("No connection to the catalogue became free.") from error
        with connection:
            yield connection

    def _prepare(self) -> None:
        """Make the tables unless they are there; several processes may come at once."""
        for _ in range(CREATE_TRIES):
            if self._is_prepared():
                return
            try:
                with self.write() as connection:
                    _create(connection)
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
        if found not in (None, SCHEMA_VERSION):
            raise ConfigInvalid(
                f"The catalogue has schema version {found}, this Pincite reads {SCHEMA_VERSION}.",
                "Use the Pincite version that wrote the catalogue, or another [catalog] url.",
            )
        return found is not None and there.issuperset(METADATA.tables)


def _create(connection: Connection) -> None:
    """Make the tables that are missing; a table is added without a new schema version."""
    METADATA.create_all(connection)
    if connection.execute(select(catalog_version.c.version)).scalar() is None:
        connection.execute(catalog_version.insert().values(version=SCHEMA_VERSION))


def _open(url: str) -> Engine:
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            _make_folder(parsed)
        # Parameters are document texts and titles: they stay out of messages and logs.
        engine = create_engine(
            parsed, hide_parameters=True, pool_pre_ping=parsed.get_backend_name() != "sqlite"
        )
    except (exc.ArgumentError, exc.NoSuchModuleError, ModuleNotFoundError) as error:
        raise ConfigInvalid(
            f"[catalog] url cannot be used: {type(error).__name__}.",
            "Give a SQLAlchemy URL, and install the extra of its database (postgres, mysql).",
        ) from error
    event.listen(engine, "handle_error", _map_error)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_folder(url: URL) -> None:
    if url.database in (None, "", ":memory:"):
        # Each thread would find a database of its own, and an empty one.
        raise ConfigInvalid("[catalog] url names a SQLite database in memory; give it a file.")
    try:
        Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CatalogUnreachable(f"The catalogue's folder cannot be made: {error}.") from error


def _map_error(context: ExceptionContext) -> CatalogUnreachable | None:
    """What is raised instead; ``None`` leaves an error that is a fault of the statement."""
    transient = (exc.OperationalError, exc.InterfaceError, exc.TimeoutError)
    error, reason = context.sqlalchemy_exception, type(context.original_exception).__name__
    # SQLite says no more than DatabaseError of a file that is damaged or no database.
    if isinstance(error, transient) or type(error) is exc.DatabaseError:
        return CatalogUnreachable(f"The catalogue's database does not answer ({reason}).")
    return None


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # Transactions are begun by _begin_sqlite; the driver must not begin them on its own.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout=30000")
    _use_wal(cursor)
    # A version number that is lost with the power would be given again, to another text.
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _use_wal(cursor: Any) -> None:
    """Switch to write-ahead logging; the busy timeout does not cover the switch itself."""
    for _ in range(CREATE_TRIES):
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname not in _LOCKED:
                raise
            time.sleep(CREATE_PAUSE_S)
    cursor.execute("PRAGMA journal_mode=WAL")


def _begin_sqlite(connection: Connection) -> None:
    # A deferred transaction that reads first cannot wait for another writer: it fails at once.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
