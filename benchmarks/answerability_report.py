"""The section on answerability: what the default cut does, and the curve of trade-offs."""

from __future__ import annotations

from collections.abc import Sequence

from answerability import RERANK, called_sufficient, false_at, scores
from measured import Measured
from report_table import kept_under, table

LOST = (0.01, 0.02, 0.03, 0.05, 0.10, 0.15, 0.20)
MOST_LOST = 0.02
MOST_FALSE = {("xquad-zh", "hard", 0.05): 0.45}
_INTRODUCTION = f"""\
## Answerability

Questions of the 24 articles for reporting, in hybrid mode \
{"with" if RERANK else "without"} the reranker. Hard: the question's own paragraph \
is left out, the other four of its article stay; easy: the whole article is left out. Lost: \
answerable questions that are not called `SUFFICIENT`; false: unanswerable ones that are. Each row \
of a curve has the cut that loses that much of its own set; *score* is `evidenceScore`."""


def answerability_section(measured: Sequence[Measured]) -> str:
    """Tables over the sets whose questions were judged."""
    curves = (f"### Any cut, {one.title}\n\n{_curve(one)}" for one in measured)
    return "\n\n".join((_INTRODUCTION, f"### Default cut\n\n{_default(measured)}", *curves))


def _default(measured: Sequence[Measured]) -> str:
    head = ("set", "questions", f"lost (aim ≤ {MOST_LOST:.3f})", "false, hard", "false, easy")
    return table(head, [_default_row(one) for one in measured])


def _default_row(one: Measured) -> tuple[str, ...]:
    lost = 1 - called_sufficient(one.judged["full"])
    false = (called_sufficient(one.judged[name]) for name in ("hard", "easy"))
    count = f"{len(one.judged['full']):,}"
    return one.title, count, kept_under(lost, MOST_LOST), *(f"{share:.3f}" for share in false)


def _curve(one: Measured) -> str:
    head = [
        "lost at most",
        *(f"{name}: {signal}" for name in ("hard", "easy") for signal in ("score", "cosine")),
    ]
    return table(head, [[f"{lost:.2f}", *_false(one, lost)] for lost in LOST])


def _false(one: Measured, lost: float) -> list[str]:
    cells = []
    for name in ("hard", "easy"):
        cells.append(_by_score(one, name, lost))
        cells.append(f"{false_at(lost, _cosines(one, 'full'), _cosines(one, name)):.3f}")
    return cells


def _by_score(one: Measured, name: str, lost: float) -> str:
    """By the engine's own judgement, beside the aim where there is one; ``–`` without one."""
    full, without = scores(one.judged["full"]), scores(one.judged[name])
    if full is None or without is None:
        return "–"
    share = false_at(lost, full, without)
    most = MOST_FALSE.get((one.quality_set.name, name, lost))
    return f"{share:.3f}" if most is None else f"{kept_under(share, most)} (aim ≤ {most:.3f})"


def _cosines(one: Measured, name: str) -> list[float]:
    return [judged.cosine for judged in one.judged[name]]
