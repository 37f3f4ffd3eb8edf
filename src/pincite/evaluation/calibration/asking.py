"""Asks for a calibration: once for all candidates, once as the settings in force have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pincite.evaluation.answer import Answer, read_answer
from pincite.evaluation.asking import ask_all
from pincite.evaluation.calibration.calibrate import DEFAULT_MAX_LOST, calibrate, check
from pincite.evaluation.calibration.result import Calibration
from pincite.evaluation.cases import GoldenCase
from pincite.retrieval.request import MAX_RETURN_N
from pincite.wiring import Workspace

# No line drops a candidate, and no rule does. Every filtered attempt is called weak, so that the
# search without the filter is seen too; the trace has the best cosine of both.
EVERYTHING: dict[str, Any] = {
    "threshold": -1.0,
    "low_quality": 1.0,
    "weak": -1.0,
    "return_n": MAX_RETURN_N,
    "max_chunks_per_document": MAX_RETURN_N,
    "token_budget": 10_000_000,
    "rerank": False,
}
_OWN_LINES = dict.fromkeys(("threshold", "low_quality", "weak"))


async def calibrate_live(
    cases: Sequence[GoldenCase], workspace: Workspace, max_lost: float = DEFAULT_MAX_LOST
) -> Calibration:
    """``calibrate`` over answers of the lookup; a case's own lines do not count.

    Raises:
        CasesInvalid: See ``calibrate``; or a case asks what no lookup can answer.
        ServiceError: There is no way to search.
    """
    check(cases, max_lost)
    plain = [case.model_copy(update=_OWN_LINES) for case in cases]
    everything = await ask_all(plain, workspace, **EVERYTHING)
    as_now = await ask_all(plain, workspace)
    return calibrate(cases, _read(cases, everything), _read(cases, as_now), max_lost)


def _read(cases: Sequence[GoldenCase], results: Sequence[dict[str, Any]]) -> list[Answer]:
    pairs = zip(cases, results, strict=True)
    return [read_answer(result, f"The answer of case {case.id!r}") for case, result in pairs]
