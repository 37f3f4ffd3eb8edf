"""Percentiles of measured values by nearest rank: always one of the values, never a mean of two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Number = TypeVar("Number", int, float)


def nearest_rank(ordered: Sequence[Number], percent: int) -> Number:
    """The least value that at least ``percent`` in a hundred of all values do not exceed.

    Args:
        ordered: The values, least first.
        percent: 0 to 100; 0 gives the least value, 100 the greatest.

    Raises:
        ValueError: There is no value, or no such percentile.
    """
    if not ordered:
        raise ValueError("nothing has no percentile")
    if not 0 <= percent <= 100:
        raise ValueError(f"percent is {percent!r}, not within 0 and 100")
    # Whole numbers: a share of .07 of 100 values would be rounded up to the eighth.
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


@dataclass(frozen=True)
class Spread:
    """How long something took, in ms: of how many, and nearest ranks; ``None`` of nothing."""

    count: int
    p50: int | None
    p95: int | None
    p99: int | None

    def as_dict(self) -> dict[str, int | None]:
        """The JSON object."""
        return dict(vars(self))


def spread_of(values: Iterable[int]) -> Spread:
    """The spread of values in any order."""
    ordered = sorted(values)
    if not ordered:
        return Spread(0, None, None, None)
    return Spread(len(ordered), *(nearest_rank(ordered, percent) for percent in (50, 95, 99)))
