import logging
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from pincite.embedding import cache as caching
from pincite.embedding.cache import (
    CACHE_REBUILT,
    CACHE_UNAVAILABLE,
    VectorCache,
    cache_key,
)
from pincite.embedding.port import Vectors

DIM = 32


def some(count: int, start: int = 0) -> dict[bytes, Vectors]:
    rows = np.random.default_rng(start).random((count, DIM), dtype=np.float32)
    keys = [cache_key("space", "add", str(start + n).encode()) for n in range(count)]
    return dict(zip(keys, rows, strict=True))


def same(found: dict[bytes, Vectors], expected: dict[bytes, Vectors]) -> bool:
    return found.keys() == expected.keys() and all(
        np.array_equal(found[key], expected[key]) for key in expected
    )


def size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.parent.iterdir())


def test_vectors_come_back_bit_for_bit_after_reopening(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "deep" / "cache.sqlite")
    vectors = some(1200)
    assert cache.get_many(list(vectors), DIM) == {}
    cache.put_many(vectors)
    cache.close()
    assert same(cache.get_many(list(vectors), DIM), vectors)
    assert cache.degradation is None
    cache.close()


def test_a_key_names_space_side_and_text() -> None:
    keys = {
        cache_key("a", "add", b"t"),
        cache_key("a", "search", b"t"),
        cache_key("b", "add", b"t"),
        cache_key("a", "add", b"u"),
    }
    assert len(keys) == 4
    assert cache_key("a", "add", b"t") == cache_key("a", "update", b"t")


@pytest.mark.parametrize("bad", [np.ones(DIM - 1), np.full(DIM, np.nan), np.ones(0)])
def test_a_value_that_cannot_be_right_is_a_miss_and_is_replaced(
    tmp_path: Path, bad: np.ndarray
) -> None:
    cache = VectorCache(tmp_path / "cache.sqlite")
    (key,) = right = some(1)
    cache.put_many({key: bad.astype(np.float32)})
    assert cache.get_many([key], DIM) == {}
    cache.put_many(right)
    assert same(cache.get_many([key], DIM), right)
    cache.close()


def test_the_file_stays_within_its_limit(tmp_path: Path) -> None:
    path, limit = tmp_path / "cache.sqlite", 400_000
    cache = VectorCache(path, max_bytes=limit)
    for start in range(0, 10_000, 500):
        cache.put_many(some(500, start))
    newest = some(500, 9_500)
    assert same(cache.get_many(list(newest), DIM), newest)
    cache.close()
    assert path.stat().st_size < limit + 250_000


def test_the_longest_unused_vectors_go_first(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.sqlite", max_bytes=400_000)
    loved, idle = some(50, 0), some(50, 1_000)
    cache.put_many(loved | idle)
    for start in range(10_000, 16_000, 200):
        cache.put_many(some(200, start))
        cache.get_many(list(loved), DIM)
    assert same(cache.get_many(list(loved), DIM), loved)
    assert cache.get_many(list(idle), DIM) == {}
    cache.close()


def test_reading_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    cache = VectorCache(path, max_bytes=400_000)
    vectors = some(20)
    cache.put_many(vectors)
    # Two more writes end the era in which the vectors were used.
    cache.put_many(some(400, 1_000))
    cache.put_many(some(1, 2_000))
    with sqlite3.connect(path) as watcher:
        before = watcher.execute("PRAGMA data_version").fetchone()
        for _ in range(5):
            cache.get_many(list(vectors), DIM)
        assert watcher.execute("PRAGMA data_version").fetchone() == before
    watcher.close()
    cache.close()


@pytest.mark.parametrize("damage", ["garbage", "middle", "truncated"])
def test_a_corrupt_file_is_set_aside_and_rebuilt(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache.sqlite"
    cache = VectorCache(path)
    vectors = some(2_000)
    cache.put_many(vectors)
    cache.close()
    raw = bytearray(path.read_bytes())
    start = {"garbage": 0, "middle": 4_000, "truncated": len(raw) // 2}[damage]
    raw[start:] = b"" if damage == "truncated" else b"\xa5" * (len(raw) - start)
    path.write_bytes(raw)
    with caplog.at_level(logging.WARNING):
        assert cache.get_many(list(vectors), DIM) == {}
        cache.put_many(vectors)
    assert cache.degradation == CACHE_REBUILT
    assert "set aside" in caplog.text
    assert same(cache.get_many(list(vectors), DIM), vectors)
    assert len(list(tmp_path.glob("cache.sqlite.corrupt-*"))) == 1
    cache.close()


def test_an_empty_file_is_simply_filled(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.touch()
    cache, vectors = VectorCache(path), some(3)
    cache.put_many(vectors)
    assert same(cache.get_many(list(vectors), DIM), vectors)
    assert cache.degradation is None
    cache.close()


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE documents (id)")
    other.commit()
    other.close()
    before = path.read_bytes()
    cache, vectors = VectorCache(path), some(3)
    cache.put_many(vectors)
    assert cache.get_many(list(vectors), DIM) == {}
    assert cache.degradation == CACHE_UNAVAILABLE
    cache.close()
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.sqlite"]


def test_another_version_of_the_cache_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    cache, vectors = VectorCache(path), some(3)
    cache.put_many(vectors)
    cache.close()
    later = sqlite3.connect(path)
    later.execute("PRAGMA user_version = 99")
    later.close()
    assert cache.get_many(list(vectors), DIM) == {}
    assert cache.degradation == CACHE_UNAVAILABLE
    cache.close()


@pytest.mark.parametrize("obstacle", ["folder in the way", "file in the way"])
def test_a_place_that_cannot_be_used_costs_only_the_cache(
    tmp_path: Path, obstacle: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache" / "vectors.sqlite"
    if obstacle == "folder in the way":
        path.mkdir(parents=True)
    else:
        path.parent.write_text("not a folder")
    cache, vectors = VectorCache(path), some(3)
    cache.put_many(vectors)
    assert cache.get_many(list(vectors), DIM) == {}
    assert cache.degradation == CACHE_UNAVAILABLE
    assert caplog.text.count("unavailable") == 1
    cache.close()


def test_a_file_that_cannot_be_written_still_answers(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    cache, vectors = VectorCache(path, busy_timeout_s=0.05), some(3)
    cache.put_many(vectors)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    cache.put_many(some(3, 100))
    assert cache.degradation == CACHE_UNAVAILABLE
    assert same(cache.get_many(list(vectors), DIM), vectors)
    holder.execute("ROLLBACK")
    holder.close()
    cache.close()


def test_writing_rests_while_another_process_holds_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cache.sqlite"
    cache, vectors = VectorCache(path, busy_timeout_s=0.05), some(3)
    cache.put_many(some(1, 50))
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    cache.put_many(vectors)
    holder.execute("ROLLBACK")
    holder.close()
    cache.put_many(vectors)
    assert cache.get_many(list(vectors), DIM) == {}
    monkeypatch.setattr(caching.time, "monotonic", lambda: 1e12)
    cache.put_many(vectors)
    assert same(cache.get_many(list(vectors), DIM), vectors)
    cache.close()


def test_threads_share_one_cache(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.sqlite")
    parts = [some(100, start) for start in range(0, 800, 100)]
    threads = [threading.Thread(target=cache.put_many, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = {key: row for part in parts for key, row in part.items()}
    assert same(cache.get_many(list(everything), DIM), everything)
    assert cache.degradation is None
    cache.close()


WRITER = """
import sys, numpy as np
from pathlib import Path
from pincite.embedding.cache import VectorCache, cache_key
cache = VectorCache(Path(sys.argv[1]))
for n in range(20):
    row = np.full(32, n + 1, np.float32)
    cache.put_many({cache_key(sys.argv[2], "add", str(n).encode()): row})
print(cache.degradation)
cache.close()
"""


def test_processes_share_one_cache_from_its_creation_on(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name],
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        )
        for name in ("a", "b", "c")
    ]
    assert [writer.communicate(timeout=60)[0].strip() for writer in writers] == ["None"] * 3
    cache = VectorCache(path)
    keys = [cache_key(name, "add", str(n).encode()) for name in "abc" for n in range(20)]
    assert len(cache.get_many(keys, DIM)) == 60
    cache.close()
