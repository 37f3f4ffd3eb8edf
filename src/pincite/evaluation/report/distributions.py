"""What the pictures of a report show, as numbers: ranks and the funnel of expected evidence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pincite.evaluation.fate import NOT_RECALLED, RETURNED, SEARCH
from pincite.evaluation.report.shape import Expected, ReportShape

EXPECTED = "expected"
# Stages of a lookup that drop candidates, in their order.
STAGES = (
    SEARCH,
    "current",
    "threshold",
    "merge",
    "document_cap",
    "return_n",
    "pack",
    RETURNED,
)
MOST_RANKS = 10


@dataclass(frozen=True)
class Bar:
    """A label and how many."""

    label: str
    count: int


def expected_of(report: ReportShape) -> list[Expected]:
    """Every expected one of every case."""
    return [one for case in report.cases for one in case.expected]


def rank_bars(report: ReportShape) -> list[Bar]:
    """Best ranks of the expected ones, from 1 to ``k``; what ranks lower; dropped; not found."""
    last = min(report.k, MOST_RANKS)
    counts = Counter(_outcome(one, last) for one in expected_of(report))
    lower = [f"> {last}"] if counts[f"> {last}"] else []
    labels = [*(str(rank) for rank in range(1, last + 1)), *lower, "dropped", "not found"]
    return [Bar(label, counts[label]) for label in labels]


def funnel_bars(report: ReportShape) -> list[Bar]:
    """How many of the expected ones are there before the search, and are left after each stage."""
    items = expected_of(report)
    reached = [_stages_passed(one) for one in items]
    left = [Bar(stage, sum(at > n for at in reached)) for n, stage in enumerate(STAGES)]
    return [Bar(EXPECTED, len(items)), *left]


def _outcome(one: Expected, last: int) -> str:
    if one.rank is not None:
        return str(one.rank) if one.rank <= last else f"> {last}"
    return "not found" if one.reason == NOT_RECALLED else "dropped"


def _stages_passed(one: Expected) -> int:
    """How many of ``STAGES`` it came through; a stage that is unknown comes before the last."""
    if one.rank is not None:
        return len(STAGES)
    if one.reason == NOT_RECALLED:
        return 0
    known = STAGES.index(one.stage) if one.stage in STAGES else len(STAGES) - 1
    # Whatever dropped it, search had found it.
    return max(1, min(known, len(STAGES) - 1))
