"""What a calibration gives, and its JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pincite.retrieval.evidence import NONE, SUFFICIENT, WEAK

KIND = "pincite-calibration"
VERSION = 1
DIGITS = 4
STATUSES = (SUFFICIENT, WEAK, NONE)

THRESHOLD, LOW_QUALITY, WEAK_LINE = "threshold", "low-quality", "weak"


@dataclass(frozen=True)
class Line:
    """A line and what it does; ``remark`` says why it is not proposed, ``""`` if it is.

    ``lost`` of the ``of`` expected passages (``threshold``) or answerable questions are lost under
    it; ``accepted`` of the ``against`` unanswerable questions are not, for ``weak`` those that are
    ``SUFFICIENT``. ``cut`` is a cosine, ``None`` where there is none to be found.
    """

    setting: str
    cut: float | None
    lost: int
    of: int
    accepted: int
    against: int
    remark: str = ""

    @property
    def proposed(self) -> float | None:
        """The value to set, ``None`` for none."""
        return None if self.remark else self.cut

    def as_dict(self) -> dict[str, Any]:
        return {
            "cut": self.cut,
            "proposed": self.proposed is not None,
            "lost": self.lost,
            "of": self.of,
            "accepted": self.accepted,
            "against": self.against,
            "remark": self.remark,
        }


@dataclass(frozen=True)
class Confusion:
    """How many questions got each evidence status, of the answerable and of the others."""

    answerable: Counter[str]
    unanswerable: Counter[str]

    @property
    def lost(self) -> int:
        """Answerable questions that are not ``SUFFICIENT``."""
        return self.answerable.total() - self.answerable[SUFFICIENT]

    @property
    def accepted(self) -> int:
        """Unanswerable questions that are ``SUFFICIENT``."""
        return self.unanswerable[SUFFICIENT]

    def tells_better(self, other: Confusion) -> bool:
        """Whether Youden's index over the same questions is at least that of the other one."""
        return self._mistakes() <= other._mistakes()

    def _mistakes(self) -> int:
        """1 minus the index, times both numbers of questions: whole, so that ties are ties."""
        ours, others = self.answerable.total(), self.unanswerable.total()
        return self.lost * others + self.accepted * ours

    def as_dict(self) -> dict[str, Any]:
        return {
            "answerable": {status: self.answerable[status] for status in STATUSES},
            "unanswerable": {status: self.unanswerable[status] for status in STATUSES},
        }


@dataclass(frozen=True)
class Point:
    """What a weak line at ``cut`` does, in shares of the questions of their kind.

    ``lost`` is that of the answerable that are not ``SUFFICIENT``, ``accepted`` that of the
    unanswerable that are.
    """

    cut: float
    lost: float
    accepted: float

    def as_dict(self) -> dict[str, float]:
        values = {"cut": self.cut, "lost": self.lost, "accepted": self.accepted}
        return {name: round(value, DIGITS) for name, value in values.items()}


@dataclass(frozen=True)
class Calibration:
    """The lines, what they and the judgement in force do, and the curve by rising cut.

    ``at_lines`` takes all lines that have a cut, proposed or not. ``left_out`` counts the cases
    that do not say whether they are answerable.
    """

    max_lost: float
    answerable: int
    unanswerable: int
    left_out: int
    threshold: Line
    low_quality: Line
    weak: Line
    in_force: Confusion
    at_lines: Confusion
    curve: tuple[Point, ...]
    warnings: tuple[str, ...]

    @property
    def lines(self) -> tuple[Line, Line, Line]:
        """All three, in the order in which they depend on each other."""
        return self.threshold, self.low_quality, self.weak

    def as_dict(self) -> dict[str, Any]:
        """The JSON document; the same cases and answers give the same one."""
        return {
            "kind": KIND,
            "version": VERSION,
            "maxLost": self.max_lost,
            "cases": {
                "answerable": self.answerable,
                "unanswerable": self.unanswerable,
                "leftOut": self.left_out,
            },
            "lines": {line.setting: line.as_dict() for line in self.lines},
            "inForce": self.in_force.as_dict(),
            "atLines": self.at_lines.as_dict(),
            "curve": [point.as_dict() for point in self.curve],
            "warnings": list(self.warnings),
        }


def confusion(statuses: Iterable[tuple[bool, str]]) -> Confusion:
    """Of pairs: whether the question is answerable, and the status it got."""
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for answerable, status in statuses:
        counts[answerable][status] += 1
    return Confusion(counts[True], counts[False])
