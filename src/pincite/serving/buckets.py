"""How often somebody may ask: one token bucket for each."""

from __future__ import annotations

import math
import time
from collections.abc import Callable


class Buckets:
    """A bucket holds a minute's requests and fills evenly; each request takes one.

    Not for several threads. There are as many buckets as names that ask: those of configured
    tokens, and one for everybody else.

    Args:
        per_minute: Requests of one name in a minute.
        clock: Seconds, never backwards.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self._state: dict[str, tuple[float, float]] = {}

    def take(self, name: str) -> int:
        """0 if there was one to take, else the whole seconds until there is."""
        now = self._clock()
        left, at = self._state.get(name, (self._most, now))
        left = min(self._most, left + (now - at) * self._per_second)
        wait_s = 0 if left >= 1 else math.ceil((1 - left) / self._per_second)
        self._state[name] = (left if wait_s else left - 1, now)
        return wait_s
