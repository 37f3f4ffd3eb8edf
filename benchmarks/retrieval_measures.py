"""What a ranking is worth: nDCG per query, gold spans found, percentiles of latencies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ir_measures import nDCG

from pincite.evaluation.measures import per_query
from pincite.percentiles import nearest_rank

DEPTH = 10
NAME = f"ndcg@{DEPTH}"


class Span(NamedTuple):
    """Characters ``[start:end]`` of a file."""

    path: str
    start: int
    end: int


def ndcg_at_10(
    relevant: Sequence[Mapping[str, int]], ranked: Sequence[Sequence[str]]
) -> list[float]:
    """nDCG@10 of each query, as trec_eval computes it.

    Args:
        relevant: For each query its relevant documents with their grades.
        ranked: For each query the documents found, best first, each once.
    """
    return [values[NAME] for values in per_query(relevant, ranked, {NAME: nDCG @ DEPTH})]


def all_in_one_each(gold: Sequence[Span], found: Sequence[Span]) -> bool:
    """Whether each gold span lies whole in one of the spans found."""
    return all(any(_holds(one, wanted) for one in found) for wanted in gold)


def all_in_union(gold: Sequence[Span], found: Sequence[Span]) -> bool:
    """Whether each gold span lies whole in the spans found taken together."""
    merged = _merged(found)
    return all(any(_holds(one, wanted) for one in merged) for wanted in gold)


def character_recall(gold: Sequence[Span], found: Sequence[Span]) -> float:
    """Share of the gold characters, each counted once, that the spans found cover."""
    wanted, merged = _merged(gold), _merged(found)
    covered = sum(_shared(one, other) for one in wanted for other in merged)
    return covered / sum(one.end - one.start for one in wanted)


def mean(values: Sequence[float]) -> float:
    """The mean; NaN of nothing."""
    return math.fsum(values) / len(values) if values else math.nan


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that at least ``share`` of all values do not exceed (nearest rank)."""
    return nearest_rank(sorted(values), round(share * 100))


def halves(values: Sequence[float]) -> tuple[float, float, float]:
    """Means over all queries, over the tuning half (even index) and the reporting half (odd)."""
    return mean(values), mean(values[0::2]), mean(values[1::2])


def _holds(span: Span, wanted: Span) -> bool:
    return span.path == wanted.path and span.start <= wanted.start and wanted.end <= span.end


def _merged(spans: Sequence[Span]) -> list[Span]:
    """The same characters in spans that neither overlap nor touch."""
    merged: list[Span] = []
    for span in sorted(spans):
        last = merged[-1] if merged else None
        if last is not None and last.path == span.path and span.start <= last.end:
            merged[-1] = last._replace(end=max(last.end, span.end))
        else:
            merged.append(span)
    return merged


def _shared(one: Span, other: Span) -> int:
    if one.path != other.path:
        return 0
    return max(0, min(one.end, other.end) - max(one.start, other.start))
