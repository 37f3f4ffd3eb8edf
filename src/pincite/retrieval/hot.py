"""What was asked a moment ago: query vectors and whole answers, in this process's memory.

An answer is kept under everything that can change it: the request, and for each corpus its
generation and the revision of the catalogue, which grows with every committed change. So a
changed corpus is seen at once; the time to live bounds what nothing announces.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any

from cachetools import TTLCache

from pincite.embedding.port import Vectors

VECTORS = "vectors"
RESULTS = "results"


class HotQueries:
    """Bounded caches; safe for several threads.

    Args:
        vectors: Query vectors kept at most, 0 = none.
        results: Answers kept at most, 0 = none.
        ttl_ms: How long something is kept.
        clock: Seconds; another one only in tests.
    """

    def __init__(
        self,
        vectors: int = 0,
        results: int = 0,
        ttl_ms: int = 60_000,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._caches: dict[str, TTLCache[Hashable, Any]] = {
            name: TTLCache(size, ttl_ms / 1000, clock)
            for name, size in ((VECTORS, vectors), (RESULTS, results))
            if size
        }

    def vector(self, space: str, query: str) -> Vectors | None:
        """The vector of a query in a vector space, if it is at hand."""
        found: Vectors | None = self._get(VECTORS, (space, query))
        return found

    def keep_vector(self, space: str, query: str, vector: Vectors) -> None:
        self._put(VECTORS, (space, query), vector)

    def result(self, key: Hashable, now_ms: int) -> Any:
        """The answer kept under the key, ``None`` when there is none that is good now."""
        kept = self._get(RESULTS, key, lambda one: one[0] is None or now_ms < one[0])
        return None if kept is None else kept[1]

    def keep_result(self, key: Hashable, result: Any, until_ms: int | None = None) -> None:
        """Keep an answer; from ``until_ms`` (epoch, UTC) on it is not given again."""
        self._put(RESULTS, key, (until_ms, result))

    def counts(self) -> dict[str, int]:
        """Hits and misses since the start: ``vectors_hits``, ``vectors_misses``, ..."""
        names = [f"{cache}_{what}" for cache in (VECTORS, RESULTS) for what in ("hits", "misses")]
        with self._lock:
            return {name: self._counts[name] for name in names}

    def _get(
        self, cache: str, key: Hashable, is_good: Callable[[Any], bool] = lambda _: True
    ) -> Any:
        with self._lock:
            found = self._caches[cache].get(key) if cache in self._caches else None
            hit = found is not None and is_good(found)
            self._counts[f"{cache}_{'hits' if hit else 'misses'}"] += 1
            return found if hit else None

    def _put(self, cache: str, key: Hashable, value: Any) -> None:
        with self._lock:
            if cache in self._caches:
                self._caches[cache][key] = value
