"""The three lines, each from what was observed and the lines before it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from pincite.evaluation.calibration.cuts import (
    allowed,
    at_or_over,
    best_difference,
    highest_cut,
    rounded_down,
)
from pincite.evaluation.calibration.observed import Observed
from pincite.evaluation.calibration.result import (
    LOW_QUALITY,
    THRESHOLD,
    WEAK_LINE,
    Confusion,
    Line,
    Point,
    confusion,
)
from pincite.retrieval.evidence import SUFFICIENT

# Under every cosine.
NO_LINE = -1.0


def of_kind(observed: Sequence[Observed], *, answerable: bool) -> list[Observed]:
    """The answerable ones, or the others."""
    return [one for one in observed if one.answerable == answerable]


def threshold_line(observed: Sequence[Observed], max_lost: float) -> Line:
    """The highest cut that loses at most such a share of the expected passages."""
    cosines = [cosine for one in observed for cosine in one.passages]
    others = of_kind(observed, answerable=False)
    if not cosines:
        remark = "No case names evidence that was found by its cosine."
        return Line(THRESHOLD, None, 0, 0, len(others), len(others), remark)
    cut = rounded_down(highest_cut(cosines, max_lost))
    lost = len(cosines) - at_or_over(cosines, cut)
    accepted = sum(one.best is not None and one.best >= cut for one in others)
    return Line(THRESHOLD, cut, lost, len(cosines), accepted, len(others))


def low_quality_line(observed: Sequence[Observed], threshold: float | None) -> Line:
    """The cut that parts the two kinds best by their first attempt, from the threshold on."""
    ours, others = of_kind(observed, answerable=True), of_kind(observed, answerable=False)
    firsts = [one.first for one in ours if one.first is not None]
    strays = [one.first for one in others if one.first is not None]
    best = best_difference(firsts, strays, len(ours), len(others))
    if best is None:
        remark = "No cut tells answerable questions from the others."
        return Line(LOW_QUALITY, None, 0, len(ours), len(others), len(others), remark)
    cut = max(rounded_down(best), _or_none(threshold))
    lost = len(ours) - at_or_over(firsts, cut)
    return Line(LOW_QUALITY, cut, lost, len(ours), at_or_over(strays, cut), len(others))


def weak_line(
    observed: Sequence[Observed], max_lost: float, threshold: float | None, low: float | None
) -> tuple[Line, Confusion]:
    """The highest cut that has at most such a share of the answerable questions under it.

    Returns:
        The line, and what all three lines together do.
    """
    lines = _or_none(threshold), _or_none(low)
    ours, others = of_kind(observed, answerable=True), of_kind(observed, answerable=False)
    cut = rounded_down(highest_cut(_settled(ours, *lines), max_lost, len(ours)))
    at = confusion((one.answerable, one.status_at(*lines, cut)) for one in observed)
    remark = _why_not(observed, at, max_lost)
    under = (one for one in ours if any(cosine < cut for cosine in _settled([one], *lines)))
    lost = sum(one.status_at(*lines, cut) != SUFFICIENT for one in under)
    return Line(WEAK_LINE, cut, lost, len(ours), at.accepted, len(others), remark), at


def in_force(observed: Sequence[Observed]) -> Confusion:
    """What the judgement in force says of the same questions."""
    return confusion((one.answerable, one.status) for one in observed)


def curve(
    observed: Sequence[Observed], threshold: float | None, low: float | None
) -> tuple[Point, ...]:
    """What a weak line does at each cosine that was seen, beside the other two lines."""
    lines = _or_none(threshold), _or_none(low)
    ours, others = of_kind(observed, answerable=True), of_kind(observed, answerable=False)
    known, strays = _reaching(ours, *lines), _reaching(others, *lines)
    # Without a weak line: what the threshold alone costs.
    gone = sum(one.status_at(*lines, NO_LINE) != SUFFICIENT for one in ours)
    return tuple(
        Point(
            cut,
            (gone + bisect_left(known, cut)) / len(ours),
            (len(strays) - bisect_left(strays, cut)) / len(others),
        )
        for cut in sorted({*known, *strays})
    )


def _settled(observed: Sequence[Observed], threshold: float, low: float) -> list[float]:
    """The cosines of the attempts that are used."""
    settled = (one.settled(threshold, low) for one in observed)
    return [cosine for cosine in settled if cosine is not None]


def _reaching(observed: Sequence[Observed], threshold: float, low: float) -> list[float]:
    """Those of them that a weak line is held against, in rising order."""
    return sorted(one for one in _settled(observed, threshold, low) if one >= threshold)


def _why_not(observed: Sequence[Observed], at: Confusion, max_lost: float) -> str:
    """Why the weak line is no gain, ``""`` where it is one.

    It replaces the judgement in force, the embedding model's own one included.
    """
    now = in_force(observed)
    ours, others = now.answerable.total(), now.unanswerable.total()
    if at.accepted == others:
        return "It turns no unanswerable question away."
    most = allowed(max_lost, ours)
    within = now.lost <= max(most, at.lost) and now.accepted <= at.accepted
    by_model = any(one.by_model for one in observed)
    if not within and not (by_model and now.tells_better(at)):
        return ""
    though = "" if now.lost <= most else ", though it loses more than was allowed"
    return (
        f"The judgement in force is better{though}, and a line would replace it: it loses"
        f" {now.lost:,} of {ours:,} and accepts {now.accepted:,} of {others:,}, this line"
        f" {at.lost:,} and {at.accepted:,}."
    )


def _or_none(line: float | None) -> float:
    return NO_LINE if line is None else line
