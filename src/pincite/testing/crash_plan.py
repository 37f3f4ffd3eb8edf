"""Which crashes are tried: at every named place of the write protocol, and at random moments."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from pincite.testing.crash_points import OUTSIDE, Point

# One in this many random crashes also kills the run that puts the first one right.
TWICE_EVERY = 5


@dataclass(frozen=True)
class Kill:
    """How a child dies; by neither of the two: not at all.

    ``point`` is a place; ``share`` a moment, as a share (0 to 1) of an unharmed child's life.
    """

    point: Point | None = None
    share: float | None = None

    def __str__(self) -> str:
        return str(self.point) if self.share is None else f"at {self.share:.0%}"


@dataclass(frozen=True)
class Crash:
    """Kills one after another: of a sync, then of the syncs that put it right.

    ``elsewhere``: the first sync to come after is one of a single other file.
    """

    kills: tuple[Kill, ...]
    elsewhere: bool = False

    def __str__(self) -> str:
        kills = ", then ".join(map(str, self.kills))
        return f"{kills}, put right by another sync" if self.elsewhere else kills


def after(step: str, occurrence: int = 1) -> Point:
    """The end of a step; the start of the next one is the same place."""
    return Point(f"after {step}", occurrence)


def before_commit(step: str, occurrence: int = 1) -> Point:
    """Inside of a step's transaction, with everything in it but the commit."""
    return Point(f"{step}: before the commit", occurrence)


HALF_WRITTEN = Point("upsert: half of the rows written", 2)
HALF_TRIMMED = Point("trim: half of the rows deleted")
HALF_REMOVED = Point("remove: half of the rows deleted")
REMOVED = Point("remove: deleted, not confirmed")

# Most are the second time: one batch is whole or well under way, others are beside or behind it.
POINTS = (
    before_commit(OUTSIDE, 1),
    after("discover"),
    after("read", 2),
    after("compare", 2),
    after("chunk", 2),
    Point("journal: a text kept", 4),
    before_commit("journal", 2),
    after("journal", 2),
    Point("embed: computed, not kept", 2),
    after("embed", 2),
    after("check", 2),
    HALF_WRITTEN,
    after("upsert", 2),
    after("read_back", 2),
    HALF_TRIMMED,
    Point("trim: deleted, not confirmed", 2),
    after("trim"),
    before_commit("stamp", 2),
    after("stamp", 2),
    before_commit("fail", 1),
    before_commit("fail", 2),
    after("fail"),
    after("restore"),
    before_commit("remove", 1),
    Point("remove: journalled, nothing deleted"),
    HALF_REMOVED,
    REMOVED,
    before_commit("remove", 2),
    after("remove"),
    after("flush"),
    before_commit(OUTSIDE, 2),
    before_commit(OUTSIDE, 3),
)


def _at(*points: Point, elsewhere: bool = False) -> Crash:
    return Crash(tuple(Kill(point) for point in points), elsewhere)


NAMED = (
    *map(_at, POINTS),
    _at(HALF_WRITTEN, after("upsert", 1)),
    _at(HALF_TRIMMED, before_commit("stamp", 1)),
    _at(HALF_REMOVED, REMOVED),
    _at(after("journal", 2), elsewhere=True),
    _at(HALF_WRITTEN, elsewhere=True),
    _at(HALF_REMOVED, elsewhere=True),
)


def random_crashes(seed: int) -> Iterator[Crash]:
    """Crashes at moments without end; the same for the same seed."""
    moments = random.Random(seed)
    number = 0
    while True:
        number += 1
        kills = 2 if number % TWICE_EVERY == 0 else 1
        yield Crash(tuple(Kill(share=moments.random()) for _ in range(kills)))


class Plan:
    """Hands out crashes to several threads until enough of them have killed.

    Args:
        crashes: What to try, in order.
        wanted: How many must have killed; ``None``: every crash once.
    """

    def __init__(self, crashes: Iterator[Crash], wanted: int | None = None) -> None:
        self._crashes = crashes
        self._open = wanted
        self._lock = threading.Lock()

    def take(self) -> Crash | None:
        """The next crash to try, ``None`` when there is none."""
        with self._lock:
            if self._open == 0:
                return None
            if self._open is not None:
                self._open -= 1
            return next(self._crashes, None)

    def missed(self) -> None:
        """A crash that was taken came too late to kill: another one is needed."""
        with self._lock:
            if self._open is not None:
                self._open += 1
