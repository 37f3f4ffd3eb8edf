"""Judges one answer against its golden case: what became of the expected evidence, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pincite.evaluation.answer import Answer, Block
from pincite.evaluation.assertions import Failure, failed_assertions, lost
from pincite.evaluation.cases import GoldenCase
from pincite.evaluation.fate import SEARCH, Fate, fates_of


class Hit(StrEnum):
    """What became of the expected evidence, best first."""

    TOP1 = "HIT_TOP1"
    RETURNED = "HIT_RETURNED"
    NO_EVIDENCE_OK = "NO_EVIDENCE_EXPECTED_OK"
    FORBIDDEN_ABSENT_OK = "FORBIDDEN_ABSENT_OK"
    NOT_JUDGED = "NOT_JUDGED"
    PARTIAL = "HIT_PARTIAL"
    DROPPED = "RECALLED_BUT_DROPPED"
    NOT_RECALLED = "NOT_RECALLED"
    UNEXPECTED = "EVIDENCE_NOT_EXPECTED"
    FORBIDDEN = "FORBIDDEN_RETURNED"


GOOD = frozenset(
    {Hit.TOP1, Hit.RETURNED, Hit.NO_EVIDENCE_OK, Hit.FORBIDDEN_ABSENT_OK, Hit.NOT_JUDGED}
)


@dataclass(frozen=True)
class Verdict:
    """A judged case.

    ``rank`` is that of the best expected one among the blocks, from 1; ``None`` where none was
    returned or none is expected. ``fates`` tell of each expected one where it ended.
    """

    case: GoldenCase
    answer: Answer
    hit: Hit
    rank: int | None
    fates: tuple[Fate, ...]
    failures: tuple[Failure, ...]

    @property
    def passed(self) -> bool:
        return self.hit in GOOD and not self.failures


def judge(case: GoldenCase, answer: Answer) -> Verdict:
    """The verdict on an answer; the same for the same answer."""
    fates = fates_of(case.expected, answer)
    ranks = [fate.rank for fate in fates if fate.rank is not None]
    rank = min(ranks, default=None)
    hit = _hit(case, answer, fates)
    failures = (*_hit_failure(case, answer, hit, fates), *failed_assertions(case, answer))
    return Verdict(case, answer, hit, rank, fates, failures)


def _hit(case: GoldenCase, answer: Answer, fates: Sequence[Fate]) -> Hit:
    if _forbidden(case, answer):
        return Hit.FORBIDDEN
    if fates:
        return _hit_of_expected(case, fates)
    if case.answerable is False or case.expected_evidence_status == "NONE":
        return Hit.UNEXPECTED if _is_evidence(case, answer) else Hit.NO_EVIDENCE_OK
    return Hit.FORBIDDEN_ABSENT_OK if case.forbidden_sources else Hit.NOT_JUDGED


def _hit_of_expected(case: GoldenCase, fates: Sequence[Fate]) -> Hit:
    returned = [fate for fate in fates if fate.rank is not None]
    if not returned:
        return Hit.DROPPED if any(fate.recalled for fate in fates) else Hit.NOT_RECALLED
    if case.require == "all" and len(returned) < len(fates):
        return Hit.PARTIAL
    return Hit.TOP1 if any(fate.rank == 1 for fate in returned) else Hit.RETURNED


def _is_evidence(case: GoldenCase, answer: Answer) -> bool:
    """Whether the answer claims what it must not: evidence, or where none may be, any block."""
    if case.expected_evidence_status == "NONE":
        return bool(answer.blocks)
    return answer.evidence_status == "SUFFICIENT"


def _unexpected(case: GoldenCase, answer: Answer) -> Sequence[Failure]:
    """By the key that the case names; what the assertion on the status says is not said twice."""
    if case.answerable is False:
        message = f"No evidence is expected, it is {answer.evidence_status}."
        return [Failure("answerable", "evidence", message)]
    if answer.evidence_status != "NONE":
        return ()
    return [Failure("expectedEvidenceStatus", "evidence", "NONE was expected without a block.")]


def _forbidden(case: GoldenCase, answer: Answer) -> list[Block]:
    return [block for block in answer.blocks if block.source in (case.forbidden_sources or ())]


def _hit_failure(
    case: GoldenCase, answer: Answer, hit: Hit, fates: Sequence[Fate]
) -> Sequence[Failure]:
    """Why the hit is none, in words."""
    if hit in GOOD:
        return ()
    if hit is Hit.FORBIDDEN:
        return [
            Failure("forbiddenSources", SEARCH, f"{block.evidence_key} was returned.")
            for block in _forbidden(case, answer)
        ]
    if hit is Hit.UNEXPECTED:
        return _unexpected(case, answer)
    name = "expectedEvidenceKeys" if case.expected_evidence_keys else "expectedSources"
    return [lost(name, fate) for fate in fates if fate.rank is None]
