"""A persistent cache of vectors: one SQLite file that several threads and processes share.

A cache may be lost, it may never be in the way: whatever goes wrong with the file, reading gives
misses, writing does nothing, ``degradation`` names the reason and embedding goes on.

Least recently used is kept by *eras*: an era ends when a sixteenth of ``max_bytes`` was written.
A row carries the era of its last use. Reading a row of the running era costs no write; the others
are noted in memory and moved to the running era with the next write.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from pincite.embedding.cache_file import (
    ForeignFile,
    connect,
    is_corrupt,
    set_aside,
    transaction,
    used_bytes,
)
from pincite.embedding.port import Action, Vectors

CACHE_REBUILT = "embedding_cache_rebuilt"
CACHE_UNAVAILABLE = "embedding_cache_unavailable"
DEFAULT_MAX_BYTES = 2 << 30
ERAS = 16
ROW_OVERHEAD_BYTES = 100
KEYS_PER_QUERY = 500
NOTED_USES = 50_000
REST_S = 30.0

Work = Callable[[sqlite3.Connection], None]
log = logging.getLogger(__name__)


def cache_key(space_id: str, action: Action, text_digest: bytes) -> bytes:
    """Key of one vector: 32 bytes that name the space, the side, and the exact text."""
    side = b"query" if action == "search" else b"passage"
    return hashlib.sha256(b"\0".join((space_id.encode(), side, text_digest))).digest()


class VectorCache:
    """See the module.

    Args:
        path: The file; its folder is made.
        max_bytes: Size of the file's content, above which the longest unused rows go.
        busy_timeout_s: Seconds to wait while another process writes.
    """

    def __init__(
        self, path: Path, max_bytes: int = DEFAULT_MAX_BYTES, busy_timeout_s: float = 5.0
    ) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._busy_timeout_s = busy_timeout_s
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._used: set[bytes] = set()
        self._degradation: str | None = None
        self._write_again_at = 0.0

    @property
    def degradation(self) -> str | None:
        """``CACHE_REBUILT``, ``CACHE_UNAVAILABLE``, or ``None`` while all is well."""
        return self._degradation

    def get_many(self, keys: Sequence[bytes], dim: int) -> dict[bytes, Vectors]:
        """The vectors that are there, ``(dim,) float32`` each.

        A value that has another length or is not finite is a miss.
        """
        found: dict[bytes, Vectors] = {}
        with self._lock:
            self._guarded(lambda db: self._read(db, keys, dim * 4, found))
        return {key: row for key, row in found.items() if np.isfinite(row).all()}

    def put_many(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Keep the vectors, ``(dim,) float32`` by key; a key that is there gets the new one."""
        with self._lock:
            self._guarded(lambda db: self._write(db, vectors))

    def close(self) -> None:
        """Note the last uses and close the file; the cache may be used again afterwards."""
        with self._lock:
            if self._db is not None and self._used:
                self._guarded(lambda db: self._write(db, {}))
            self._drop()

    def _read(
        self, db: sqlite3.Connection, keys: Sequence[bytes], size: int, found: dict[bytes, Vectors]
    ) -> None:
        (running,) = db.execute("SELECT era FROM clock").fetchone()
        for key, era, blob in _select(db, keys):
            if len(blob) != size:
                continue
            found[key] = np.frombuffer(blob, "<f4").astype(np.float32)
            if era != running and len(self._used) < NOTED_USES:
                self._used.add(key)

    def _write(self, db: sqlite3.Connection, vectors: Mapping[bytes, Vectors]) -> None:
        # A file that another process holds would cost the whole waiting time with each write.
        if time.monotonic() < self._write_again_at:
            return
        blobs = {key: row.astype("<f4").tobytes() for key, row in vectors.items()}
        with transaction(db):
            era = _tick(db, sum(map(len, blobs.values())), self._max_bytes // ERAS)
            db.executemany(
                "UPDATE vectors SET era = ? WHERE key = ?", [(era, key) for key in self._used]
            )
            db.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                [(key, era, blob) for key, blob in blobs.items()],
            )
            _evict(db, self._max_bytes)
        self._used.clear()

    def _guarded(self, work: Work) -> None:
        """Run the work; a broken file is put aside once, any other trouble costs the cache."""
        try:
            work(self._open())
        except (sqlite3.Error, OSError, ForeignFile) as exc:
            self._drop()
            if isinstance(exc, sqlite3.Error) and is_corrupt(exc):
                self._rebuild(work)
            else:
                self._give_up(exc)

    def _rebuild(self, work: Work) -> None:
        try:
            aside = set_aside(self._path)
            self._degradation = CACHE_REBUILT
            log.warning("embedding cache is corrupt, set aside", extra={"file": aside.name})
            work(self._open())
        except (sqlite3.Error, OSError, ForeignFile) as exc:
            self._drop()
            self._give_up(exc)

    def _give_up(self, error: Exception) -> None:
        if self._degradation != CACHE_UNAVAILABLE:
            log.warning("embedding cache is unavailable", extra={"reason": type(error).__name__})
        self._degradation = CACHE_UNAVAILABLE
        self._write_again_at = time.monotonic() + REST_S

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = connect(self._path, self._busy_timeout_s)
        return self._db

    def _drop(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None


def _select(db: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[tuple[bytes, int, bytes]]:
    for start in range(0, len(keys), KEYS_PER_QUERY):
        part = keys[start : start + KEYS_PER_QUERY]
        marks = ",".join("?" * len(part))
        yield from db.execute(f"SELECT key, era, vector FROM vectors WHERE key IN ({marks})", part)


def _tick(db: sqlite3.Connection, added: int, era_bytes: int) -> int:
    """The running era, moved on when enough was written in it."""
    era, written = db.execute("SELECT era, written FROM clock").fetchone()
    if written >= era_bytes:
        era, written = era + 1, 0
    db.execute("UPDATE clock SET era = ?, written = ?", (era, written + added))
    return int(era)


def _evict(db: sqlite3.Connection, max_bytes: int) -> None:
    """Delete the longest unused rows until there is room for an era again."""
    used = used_bytes(db)
    if used <= max_bytes:
        return
    room = max_bytes - max_bytes // ERAS
    while used > room:
        row = db.execute("SELECT length(vector) FROM vectors LIMIT 1").fetchone()
        if row is None:
            return
        count = -(-(used - room) // (row[0] + ROW_OVERHEAD_BYTES))
        db.execute(
            "DELETE FROM vectors WHERE rowid IN "
            "(SELECT rowid FROM vectors ORDER BY era, rowid LIMIT ?)",
            (count,),
        )
        used = used_bytes(db)
