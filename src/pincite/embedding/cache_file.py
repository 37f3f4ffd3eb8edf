"""The SQLite file behind the embedding cache: opening it, and putting a broken one aside."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

APPLICATION_ID = 0x50494E43
SCHEMA_VERSION = 1
PAGE_BYTES = 8192
CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})

_SCHEMA = """
CREATE TABLE vectors (key BLOB PRIMARY KEY, era INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE INDEX vectors_by_era ON vectors (era);
CREATE TABLE clock (era INTEGER NOT NULL, written INTEGER NOT NULL);
INSERT INTO clock VALUES (0, 0);
"""


class ForeignFile(Exception):
    """A SQLite file that is something else, or of another version of the cache."""


def connect(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    """Open the cache, creating it where there is none.

    Raises:
        ForeignFile: The file is a database, but not this cache in this version.
        sqlite3.Error: It cannot be opened, created or read.
        OSError: Its folder cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(
        path, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(db)
    except BaseException:
        db.close()
        raise
    return db


def _prepare(db: sqlite3.Connection) -> None:
    if _pragma(db, "application_id") != APPLICATION_ID:
        db.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    db.execute("PRAGMA synchronous = NORMAL")
    _create_once(db)
    if _pragma(db, "user_version") != SCHEMA_VERSION:
        raise ForeignFile("another version of the cache")
    db.execute("PRAGMA journal_mode = WAL")


def _create_once(db: sqlite3.Connection) -> None:
    """Two processes may come here at once: who gets the lock creates, the other sees it done."""
    if _pragma(db, "application_id") == APPLICATION_ID:
        return
    with transaction(db):
        if _pragma(db, "application_id") == APPLICATION_ID:
            return
        if _pragma(db, "schema_version"):
            raise ForeignFile("a database of something else")
        for statement in filter(str.strip, _SCHEMA.split(";")):
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """One write transaction, rolled back on any error."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def used_bytes(db: sqlite3.Connection) -> int:
    """Bytes of the pages that hold something."""
    pages = _pragma(db, "page_count") - _pragma(db, "freelist_count")
    return pages * _pragma(db, "page_size")


def is_corrupt(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken, rather than busy, full or not to be written."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and (code & 0xFF) in CORRUPT


def set_aside(path: Path) -> Path:
    """Rename a broken file, so that a new one can take its place; gives the new name."""
    aside = path.with_name(f"{path.name}.corrupt-{time.time_ns():x}-{os.getpid():x}")
    with contextlib.suppress(FileNotFoundError):
        path.rename(aside)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return aside
