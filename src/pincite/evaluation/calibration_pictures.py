"""The curve of a calibration as a picture that stands alone or inside a page."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from pincite.evaluation.calibration_result import Calibration, Line
from pincite.evaluation.svg import BAD, GOOD, INK, Picture, draw

SIZE = (6.4, 3.6)
TITLE = "What a weak line costs and what it turns away"
_NO_CURVE = "No cosine reaches the threshold, so there is no curve."
# What a page says by itself; a file of its own has to bring it.
_ALONE = {
    "currentColor": "#24292f",
    "var(--line)": "#d0d7de",
    "var(--bar-bad)": "#cf222e",
    "var(--bar)": "#0969da",
}
_NAMESPACES = (
    'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' font-family="sans-serif"'
)


def curve_picture(calibration: Calibration) -> Picture:
    """Answerable questions lost and unanswerable ones accepted, against the cut."""
    weak = calibration.weak
    if weak.cut is None:
        return Picture("calibration", TITLE, _NO_CURVE, None)
    text = (
        f"A weak line at a cosine of {weak.cut:.4f} loses {weak.lost} of {weak.of} answerable"
        f" questions and accepts {weak.accepted} of {weak.against} unanswerable ones."
    )
    return draw("calibration", TITLE, text, SIZE, lambda axes: _paint(axes, calibration))


def standalone(picture: Picture) -> str:
    """The picture as a file of its own, which may be put into HTML as it is."""
    svg = picture.svg or f'<svg role="img" viewBox="0 0 1 1"><title>{picture.text}</title></svg>'
    for given, colour in _ALONE.items():
        svg = svg.replace(given, colour)
    return svg.replace("<svg ", f"<svg {_NAMESPACES} ", 1) + "\n"


def _paint(axes: Axes, calibration: Calibration) -> None:
    cuts = [point.cut for point in calibration.curve]
    lost = [point.lost for point in calibration.curve]
    accepted = [point.accepted for point in calibration.curve]
    # A share holds from the cosine before up to the cut.
    axes.step(cuts, accepted, where="pre", color=BAD, label="unanswerable still SUFFICIENT")
    axes.step(cuts, lost, where="pre", color=GOOD, label="answerable called WEAK")
    for line in calibration.lines:
        _mark(axes, line)
    axes.scatter(*_chosen(calibration), color=INK, zorder=3, clip_on=False)
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.grid(True, linewidth=0.6)
    axes.set_xlabel("cut (cosine)")
    axes.set_ylabel("share of questions (%)")
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1.06), ncols=2)


def _mark(axes: Axes, line: Line) -> None:
    if line.cut is None:
        return
    axes.axvline(line.cut, color=INK, linewidth=0.8, linestyle="--")
    axes.annotate(
        line.setting,
        (line.cut, 1),
        (2, -2),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        rotation=90,
        va="top",
    )


def _chosen(calibration: Calibration) -> tuple[list[float], list[float]]:
    """The two points of the curves at the weak line."""
    weak = calibration.weak
    cut = weak.cut or 0.0
    return [cut, cut], [weak.lost / weak.of, weak.accepted / weak.against]
