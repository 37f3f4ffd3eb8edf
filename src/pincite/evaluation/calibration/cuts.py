"""Where to cut a list of cosines; what is at or over a cut stays."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal

DIGITS = 4
_STEP = Decimal(1).scaleb(-DIGITS)


def highest_cut(values: Sequence[float], max_lost: float, of: int | None = None) -> float:
    """The highest cut that loses at most a share of the values.

    Args:
        values: Finite, at least one, in any order.
        max_lost: Share in [0, 1) of ``of``, which is the number of values unless given.
        of: What the share is of, where more than the values count.
    """
    most = allowed(max_lost, len(values) if of is None else of)
    return sorted(values)[min(most, len(values) - 1)]


def allowed(share: float, of: int) -> int:
    """How many of ``of`` are at most such a share, as it is written: 0.29 of 100 are 29."""
    return int(Decimal(repr(share)) * of)


def best_difference(
    above: Sequence[float], below: Sequence[float], of_above: int, of_below: int
) -> float | None:
    """The cut with the greatest difference between two shares at or over it.

    That is Youden's index (1950). Of cuts that are equally good the lowest is taken; ``None``
    where no cut is better than to keep all or nothing.

    Args:
        above: Finite values of those that should be over the cut.
        below: The same of those that should be under it.
        of_above: How many there are of the first in all; those without a value are under it.
        of_below: The same of the second.
    """
    best, most = None, 0
    for cut in sorted(set(above)):
        # In whole numbers: equal differences are equal.
        difference = at_or_over(above, cut) * of_below - at_or_over(below, cut) * of_above
        if difference > most:
            best, most = cut, difference
    return best


def at_or_over(values: Sequence[float], cut: float) -> int:
    """How many values a cut keeps."""
    return sum(value >= cut for value in values)


def rounded_down(cut: float) -> float:
    """The cut with ``DIGITS`` digits, never over it: it loses nothing more."""
    return float(Decimal(repr(cut)).quantize(_STEP, rounding=ROUND_FLOOR))
