"""Connections to the catalogue's database: how they are opened, how they wait, how they fail."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc
from sqlalchemy.engine import URL, ExceptionContext, make_url

from pincite.errors import CatalogUnreachable, ConfigInvalid

WRITES = "pincite_writes"
BUSY_TIMEOUT_MS = 30_000
_WAL_TRIES = 20
_WAL_PAUSE_S = 0.1
_LOCKED = ("SQLITE_BUSY", "SQLITE_BUSY_RECOVERY", "SQLITE_LOCKED")
# Deadlocks and snapshots that are out of date: PostgreSQL by state, MySQL and MariaDB by number.
_CONFLICTS = ("40P01", "40001", 1213, 1020)
# A line of a log is not worth waiting for another writer, nor for the disk.
_HASTY = {
    "postgresql": ("SET lock_timeout = {ms}", "SET synchronous_commit = off"),
    # MySQL counts in whole seconds.
    "mysql": ("SET SESSION innodb_lock_wait_timeout = 1",),
    "mariadb": ("SET SESSION innodb_lock_wait_timeout = 1",),
}


def open_engine(url: str, patience_ms: int | None = None) -> Engine:
    """An engine whose errors are Pincite's; SQLite files are made with their folder.

    Args:
        url: SQLAlchemy URL.
        patience_ms: For lines that may be lost: how long a transaction waits for other writers
            or a free connection. ``None``: as long as it takes, and a commit is on the disk.

    Raises:
        ConfigInvalid: The URL names no usable dialect.
        CatalogUnreachable: The folder cannot be made.
    """
    try:
        parsed = make_url(url)
        # Parameters are document texts and titles: they stay out of messages and logs.
        options: dict[str, Any] = {"hide_parameters": True}
        if patience_ms is not None:
            options["pool_timeout"] = patience_ms / 1000
        if parsed.get_backend_name() == "sqlite":
            _make_folder(parsed)
        else:
            options["pool_pre_ping"] = True
        engine = create_engine(parsed, **options)
    except (exc.ArgumentError, exc.NoSuchModuleError, ModuleNotFoundError) as error:
        raise ConfigInvalid(
            f"[catalog] url cannot be used: {type(error).__name__}.",
            "Give a SQLAlchemy URL, and install the extra of its database (postgres, mysql).",
        ) from error
    _listen(engine, patience_ms)
    return engine


def _listen(engine: Engine, patience_ms: int | None) -> None:
    event.listen(engine, "handle_error", _map_error)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "begin", _begin_sqlite)
        event.listen(engine, "connect", _sqlite_connect(patience_ms))
    elif patience_ms is not None:
        statements = [text.format(ms=patience_ms) for text in _HASTY[engine.dialect.name]]
        event.listen(engine, "connect", _connect(statements))


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
        return CatalogUnreachable(
            f"The catalogue's database does not answer ({reason}).",
            conflict=_is_conflict(context.original_exception),
        )
    return None


def _is_conflict(error: BaseException) -> bool:
    """Whether the database took the transaction back in favour of another one."""
    code = getattr(error, "sqlstate", None) or next(iter(error.args), None)
    return code in _CONFLICTS


def _connect(statements: list[str]) -> Callable[[Any, Any], None]:
    def prepare(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        cursor.close()
        connection.commit()

    return prepare


def _sqlite_connect(patience_ms: int | None) -> Callable[[Any, Any], None]:
    def prepare(connection: Any, _record: Any) -> None:
        # Transactions are begun by _begin_sqlite; the driver must not begin them on its own.
        connection.isolation_level = None
        cursor = connection.cursor()
        if patience_ms is None:
            cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
            _use_wal(cursor)
            # A version number that is lost with the power would be given again, to another text.
            cursor.execute("PRAGMA synchronous=FULL")
        else:
            cursor.execute(f"PRAGMA busy_timeout={patience_ms}")
            cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.close()

    return prepare


def _use_wal(cursor: Any) -> None:
    """Switch to write-ahead logging; the busy timeout does not cover the switch itself."""
    for _ in range(_WAL_TRIES):
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname not in _LOCKED:
                raise
            time.sleep(_WAL_PAUSE_S)
    cursor.execute("PRAGMA journal_mode=WAL")


def _begin_sqlite(connection: Connection) -> None:
    # A deferred transaction that reads first cannot wait for another writer: it fails at once.
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
