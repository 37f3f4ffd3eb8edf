"""The curve of a calibration as a picture that stands alone or inside a page."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from pincite.evaluation.calibration.result import Calibration, Line
from pincite.evaluation.report.svg import BAD, GOOD, INK, Picture, draw

SIZE = (6.4, 4.0)
TITLE = "What a weak line costs and what it turns away"
_ACCEPTED = "unanswerable still SUFFICIENT"
_LOST = "answerable not SUFFICIENT"


def curve_picture(calibration: Calibration) -> Picture:
    """Answerable questions lost and unanswerable ones accepted, against the cut."""
    weak, at = calibration.weak, calibration.at_lines
    text = (
        f"With a weak line at a cosine of {weak.cut:.4f}, {at.lost} of {weak.of} answerable"
        f" questions are not SUFFICIENT, and {at.accepted} of {weak.against} unanswerable ones are."
    )
    return draw("calibration", TITLE, text, SIZE, lambda axes: _paint(axes, calibration))


def _paint(axes: Axes, calibration: Calibration) -> None:
    accepted = calibration.in_force.accepted / calibration.unanswerable
    lost = calibration.in_force.lost / calibration.answerable
    points = calibration.curve
    _curve(axes, [(point.cut, point.accepted) for point in points], accepted, BAD, _ACCEPTED)
    _curve(axes, [(point.cut, point.lost) for point in points], lost, GOOD, _LOST)
    for row, line in enumerate(reversed(calibration.lines)):
        _mark(axes, line, row)
    _mark_chosen(axes, calibration)
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.grid(True, linewidth=0.6)
    axes.set_xlabel("cut (cosine)")
    axes.set_ylabel("share of questions (%)")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, -0.2), ncols=2)


def _curve(
    axes: Axes, points: list[tuple[float, float]], now: float, colour: str, label: str
) -> None:
    """A share against the cut, and what it is by the judgement in force."""
    cuts, shares = zip(*points, strict=True)
    # A share holds from the cosine before up to the cut.
    axes.step(cuts, shares, where="pre", color=colour, label=label)
    axes.axhline(now, color=colour, linewidth=0.9, linestyle=":", label="the same, in force")


def _mark(axes: Axes, line: Line, row: int) -> None:
    """A line with its name over the axes, each in a row of its own: lines may be close."""
    if line.cut is None:
        return
    proposed = line.proposed is not None
    axes.axvline(line.cut, color=INK, linewidth=0.8, linestyle="--" if proposed else ":")
    axes.annotate(
        line.setting if proposed else f"{line.setting} (not proposed)",
        (line.cut, 1),
        (0, 3 + 11 * row),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
    )


def _mark_chosen(axes: Axes, calibration: Calibration) -> None:
    """Dots on both curves at the weak line; as text, for markers are drawn by reference."""
    at, cut = calibration.at_lines, calibration.weak.cut or 0.0
    for share in (at.lost / calibration.answerable, at.accepted / calibration.unanswerable):
        axes.text(cut, share, "●", ha="center", va="center", fontsize=7)
