"""Which crashes are tried: at every named place of the write protocol, and at random moments."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from pincite.testing.crash_points import OUTSIDE, Point

# One in this many random crashes also kills the run that puts the first one right.
TWICE_EVERY = 5


class Then(StrEnum):
    """What the first sync after the kills is: the same again, of one other file, or with every
    page as it was before.
    """

    AGAIN = ""
    ELSEWHERE = "put right by another sync"
    TAKEN_BACK = "the pages are as before"


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
    """Kills one after another, of a sync and then of those that put it right, and what follows."""

    kills: tuple[Kill, ...]
    then: Then = Then.AGAIN

    def __str__(self) -> str:
        return ", then ".join([*map(str, self.kills), *filter(None, [self.then.value])])


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
    after("roll_back"),
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


def _at(*points: Point, then: Then = Then.AGAIN) -> Crash:
    return Crash(tuple(Kill(point) for point in points), then)


NAMED = (
    *map(_at, POINTS),
    _at(HALF_WRITTEN, after("upsert", 1)),
    _at(HALF_TRIMMED, before_commit("stamp", 1)),
    _at(HALF_REMOVED, REMOVED),
    _at(after("journal", 2), then=Then.ELSEWHERE),
    _at(HALF_WRITTEN, then=Then.ELSEWHERE),
    _at(HALF_REMOVED, then=Then.ELSEWHERE),
    _at(before_commit("journal", 2), then=Then.TAKEN_BACK),
    _at(HALF_WRITTEN, then=Then.TAKEN_BACK),
    _at(HALF_TRIMMED, then=Then.TAKEN_BACK),
    _at(after("read_back", 3), then=Then.TAKEN_BACK),
    _at(HALF_REMOVED, then=Then.TAKEN_BACK),
)


def random_crashes(seed: int) -> Iterator[Crash]:
    """Crashes at moments without end; the same for the same seed."""
    moments = random.Random(seed)
    number = 0
    while True:
        number += 1
        kills = 2 if number % TWICE_EVERY == 0 else 1
        shares = tuple(Kill(share=moments.random()) for _ in range(kills))
        yield Crash(shares, moments.choice(list(Then)))


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
