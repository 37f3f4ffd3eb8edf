"""From what a reranker returned to one usable score per passage, believing none of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real

from pincite.retrieval.rerank.port import Ranked

TOO_FEW = "rerank_too_few"
TOO_MANY = "rerank_too_many"
OUT_OF_RANGE = "rerank_index_out_of_range"
REPEATED = "rerank_index_repeated"
NOT_FINITE = "rerank_not_finite"
MALFORMED = "rerank_malformed"

# Leaves room for the scores of what comes after the worst.
LARGEST = 1e300


class Unusable(Exception):
    """The ranking cannot be used; ``code`` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def as_index(value: object) -> int | None:
    """The value as an index, ``None`` where it is no integer; a truth value is none."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def as_score(value: object) -> float | None:
    """The value as a float, infinite where it is too large; ``None`` where it is no number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def scores_of(ranked: object, count: int) -> tuple[float, ...]:
    """One finite score for each of ``count`` passages, in their order.

    Raises:
        Unusable: Not a list of ``Ranked`` with proper types, or not each index exactly once, or
            a score that is not finite or beyond ±1e300; checked in this order.
    """
    pairs = _pairs(ranked)
    if len(pairs) != count:
        raise Unusable(TOO_FEW if len(pairs) < count else TOO_MANY)
    if not all(0 <= index < count for index, _ in pairs):
        raise Unusable(OUT_OF_RANGE)
    by_index = dict(pairs)
    if len(by_index) != count:
        raise Unusable(REPEATED)
    if not all(abs(score) <= LARGEST for score in by_index.values()):
        raise Unusable(NOT_FINITE)
    return tuple(by_index[index] for index in range(count))


def _pairs(ranked: object) -> list[tuple[int, float]]:
    if not isinstance(ranked, list | tuple):
        raise Unusable(MALFORMED)
    return [_pair(item) for item in ranked]


def _pair(item: object) -> tuple[int, float]:
    if not isinstance(item, Ranked):
        raise Unusable(MALFORMED)
    index, score = as_index(item.index), as_score(item.score)
    if index is None or score is None:
        raise Unusable(MALFORMED)
    return index, score


def followed(scores: Sequence[float], total: int) -> tuple[float, ...]:
    """``scores``, then those of the passages that nobody looked at, ``total`` in all.

    Each of the latter is lower than the one before and than the worst of ``scores``, so that
    they keep their order after it. ``scores`` has at least one.
    """
    worst = min(scores)
    step = max(1.0, abs(worst) * 1e-9)
    behind = (worst - step * place for place in range(1, total - len(scores) + 1))
    return (*scores, *behind)
