"""Figures of a report in words, the same in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pincite.evaluation.report.shape import CaseShape, Expected, Group, Mean, ReportShape, Status
from pincite.evaluation.report.text import NOTHING
from pincite.evaluation.verdict import Hit
from pincite.percentiles import nearest_rank

STATUSES: tuple[Status, ...] = ("SUFFICIENT", "WEAK", "NONE")


@dataclass(frozen=True)
class Latencies:
    """Of all cases that have one, in ms; nearest ranks."""

    cases: int
    p50: int
    p95: int
    longest: int


@dataclass(frozen=True)
class FailedLine:
    """One failure of one case, for a table; ``number`` is the case's place in the report."""

    number: int
    case: str
    hit: Hit
    assertion: str
    stage: str
    reason: str
    message: str


def verdict_line(report: ReportShape) -> str:
    """``3 of 44 cases failed``."""
    failed, cases = len(report.failed), len(report.cases)
    if not cases:
        return "No case was evaluated"
    if failed:
        return f"{failed} of {counted(cases, 'case')} failed"
    return f"All {cases} cases passed" if cases > 1 else "The only case passed"


def counted(number: int, noun: str) -> str:
    """``1 case``, ``2 cases``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def share(number: int, of: int) -> str:
    """``4 of 12 (33 %)``; over nothing ``0 of 0``. Only what is all is 100 %, only none is 0 %."""
    if not of:
        return f"{number:,} of {of:,}"
    percent = round(100 * number / of)
    if 0 < number < of:
        percent = min(99, max(1, percent))
    return f"{number:,} of {of:,} ({percent} %)"


def mean(one: Mean) -> str:
    """``0.933``, ``0.933 (12 of 14)`` where not all cases are measured, ``0 of 14`` over none."""
    if one.value is None:
        return f"0 of {one.of:,}"
    partly = f" ({one.valid:,} of {one.of:,})" if one.valid < one.of else ""
    return f"{one.value:.3f}{partly}"


def hit_columns(groups: Sequence[Group]) -> list[Hit]:
    """The hit classes that occur, best first."""
    return [hit for hit in Hit if any(group.hits.get(hit) for group in groups)]


def ended(one: Expected) -> str:
    """Where an expected one ended: ``rank 2``, ``not found by search``, ``dropped at merge``."""
    if one.rank is not None:
        return f"rank {one.rank}"
    if one.reason == "not_recalled":
        return f"not found by {one.stage}"
    why = "" if one.reason == one.stage else f" ({one.reason})"
    return f"dropped at {one.stage}{why}"


def failed_lines(report: ReportShape) -> list[FailedLine]:
    """Each failure of each failed case, in the order of the report."""
    return [
        line
        for number, case in enumerate(report.cases, start=1)
        if not case.passed
        for line in _lines(number, case)
    ]


def latencies(report: ReportShape) -> Latencies | None:
    """Of the report's cases, ``None`` where none is known."""
    times = latency_values(report)
    if not times:
        return None
    return Latencies(len(times), nearest_rank(times, 50), nearest_rank(times, 95), times[-1])


def latency_values(report: ReportShape) -> list[int]:
    """Latencies in ms, shortest first, of the cases that have one."""
    known = report.observed.latency_ms if report.observed is not None else {}
    return sorted(known[case.id] for case in report.cases if case.id in known)


def _lines(number: int, case: CaseShape) -> list[FailedLine]:
    return [
        FailedLine(
            number,
            case.id,
            case.hit,
            one.assertion,
            one.stage,
            one.reason or NOTHING,
            one.message,
        )
        for one in case.failures
    ]
