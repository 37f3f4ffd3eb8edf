"""Proposes ``rag.threshold``, ``rag.low-quality`` and ``rag.weak`` from golden cases.

``threshold`` is the highest cut that loses at most a given share of the expected passages.
``low-quality`` parts the answerable questions from the others best, by the best cosine of their
first attempt; it is never under ``threshold``, because a retry costs time and loses nothing.
``weak`` is the highest cut that has at most the given share of the answerable questions under it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pincite.errors import CasesInvalid, RequestInvalid
from pincite.evaluation.answer import Answer
from pincite.evaluation.calibration.lines import (
    curve,
    in_force,
    low_quality_line,
    of_kind,
    threshold_line,
    weak_line,
)
from pincite.evaluation.calibration.observed import Observed, is_answerable, observe
from pincite.evaluation.calibration.result import Calibration
from pincite.evaluation.cases import GoldenCase

# With fewer questions of a kind, a single one is more than the usual share that may be lost.
ENOUGH = 20
DEFAULT_MAX_LOST = 0.05
# Where a failure may cost the cosines.
_STAGES = ("embed", "search", "lookup")


def calibrate(
    cases: Sequence[GoldenCase],
    answers: Sequence[Answer],
    as_now: Sequence[Answer] | None = None,
    max_lost: float = DEFAULT_MAX_LOST,
) -> Calibration:
    """Lines from the answers to golden cases; their order does not matter.

    Args:
        cases: Some that name expected evidence or are marked answerable, some that are marked
            not answerable; others are left out.
        answers: One to each case, with all candidates: asked without lines, cap, cut and budget.
        as_now: One to each case, as the settings in force have it. Default: ``answers``, of which
            then only what was returned is seen.
        max_lost: Share in [0, 1) of the answerable that may be lost.

    Raises:
        RequestInvalid: ``max_lost`` is no such share.
        CasesInvalid: One of the two kinds is missing, or no answer has a cosine.
    """
    check(cases, max_lost)
    triples = zip(cases, answers, as_now or answers, strict=True)
    observed = [observe(*one) for one in triples if is_answerable(one[0]) is not None]
    _require_cosines(observed)
    threshold = threshold_line(observed, max_lost)
    low = low_quality_line(observed, threshold.cut)
    weak, at_lines = weak_line(observed, max_lost, threshold.cut, low.cut)
    return Calibration(
        max_lost=max_lost,
        answerable=len(of_kind(observed, answerable=True)),
        unanswerable=len(of_kind(observed, answerable=False)),
        left_out=len(cases) - len(observed),
        threshold=threshold,
        low_quality=low,
        weak=weak,
        in_force=in_force(observed),
        at_lines=at_lines,
        curve=curve(observed, threshold.cut, low.cut),
        warnings=tuple(_warnings(observed, answers, whole=as_now is not None)),
    )


def check(cases: Sequence[GoldenCase], max_lost: float) -> None:
    """Whether there is something to calibrate with, before anything is asked.

    Raises:
        RequestInvalid, CasesInvalid: See ``calibrate``.
    """
    if not 0 <= max_lost < 1:
        raise RequestInvalid(f"max_lost is {max_lost!r}, a share from 0 to under 1 is wanted.")
    kinds = {is_answerable(case) for case in cases}
    if True not in kinds:
        raise CasesInvalid(
            "No case is answerable.",
            "Add cases that name expectedSources or expectedEvidenceKeys.",
        )
    if False not in kinds:
        raise CasesInvalid(
            "No case is unanswerable.",
            "Add questions that the corpus has no answer to, with `answerable: false`.",
        )


def _require_cosines(observed: Sequence[Observed]) -> None:
    if all(one.best is None for one in of_kind(observed, answerable=True)):
        raise CasesInvalid(
            "No answer to an answerable case has a cosine: they were asked in lexical mode, or"
            " nothing was found.",
            "Ask in dense or hybrid mode, of a corpus that holds the documents.",
        )


def _warnings(
    observed: Sequence[Observed], answers: Sequence[Answer], *, whole: bool
) -> Iterator[str]:
    """What makes the lines less sure than they look."""
    for answerable, name in ((True, "answerable"), (False, "unanswerable")):
        number = len(of_kind(observed, answerable=answerable))
        if number < ENOUGH:
            yield f"Fewer than {ENOUGH} {name} questions ({number}): chance decides much."
    unseen = sum(one.unseen for one in observed)
    if unseen:
        yield (
            f"Expected passages without a cosine: {unseen}. Search did not find them, or full text"
            " alone did; no line changes that."
        )
    degraded = [a for a in answers if any(d.stage in _STAGES for d in a.trace.degradations)]
    if degraded:
        yield f"Degraded answers: {len(degraded)}. `pincite lookup --explain` says how."
    if not whole:
        yield "Only what was returned is seen; ask live to see what fell out as well."
