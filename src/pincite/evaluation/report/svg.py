"""Pictures for a page: SVG to put into HTML, in the page's own font and colours."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

# Stand-ins of a drawing for colours that the page decides, light or dark.
INK, GRID, GOOD, BAD = "#010203", "#040506", "#070809", "#0a0b0c"
_COLOURS = {
    INK: "currentColor",
    GRID: "var(--line)",
    GOOD: "var(--bar)",
    BAD: "var(--bar-bad)",
}
# What a page says by itself; a file of its own has to bring it.
_ALONE = {INK: "#24292f", GRID: "#d0d7de", BAD: "#cf222e", GOOD: "#0969da"}
_NAMESPACES = (
    'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' font-family="sans-serif"'
)
_SETTINGS: dict[RcKeyType, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "pincite",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": GRID,
    "axes.axisbelow": True,
}
_NO_METADATA = dict.fromkeys(("Date", "Format", "Type", "Creator"))
_settings_lock = threading.Lock()


@dataclass(frozen=True)
class Picture:
    """A picture with its title; ``text`` says the same in words.

    ``svg`` is an element for HTML, ``None`` where there is nothing to draw.
    """

    name: str
    title: str
    text: str
    svg: str | None


def draw(
    name: str, title: str, text: str, size: tuple[float, float], paint: Callable[[Axes], None]
) -> Picture:
    """The picture that ``paint`` makes; the same drawing gives the same bytes.

    Args:
        name: Unique in its page; prefix of the ids inside.
        title: Shown above it and read out.
        text: What it shows, in words.
        size: Width and height in inches, 96 CSS pixels each where there is room.
        paint: Draws on the axes, in the colours of this module.
    """
    with _settings():
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(left=False, bottom=False)
        paint(axes)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata=_NO_METADATA)
    return Picture(name, title, text, _for_page(out.getvalue(), name, title, text))


def standalone(picture: Picture) -> str:
    """The picture as a file of its own, which may be put into HTML as it is."""
    svg = picture.svg or ""
    for name, given in _COLOURS.items():
        svg = svg.replace(given, _ALONE[name])
    return svg.replace("<svg ", f"<svg {_NAMESPACES} ", 1) + "\n"


@contextmanager
def _settings() -> Iterator[None]:
    """The library's own defaults and ours; they are of the whole process, so one at a time."""
    with _settings_lock, matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def _for_page(document: str, name: str, title: str, text: str) -> str:
    """The ``svg`` element alone: no prolog, no style that would reach the page, ids of its own."""
    start = document.index("<svg")
    view = re.search(r'viewBox="[^"]*"', document[start:])
    body = document[document.index(">", start) + 1 :].strip()
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    body = re.sub(r"font-family: [^;\"]*;? ?", "", body)
    body = re.sub(r'(<[a-z]+) id="[^"]*"', r"\1", body)
    for colour, own in _COLOURS.items():
        body = body.replace(colour, own)
    head = (
        f'<svg role="img" aria-labelledby="{name}-title {name}-text" {view[0] if view else ""}>'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-text">{escape(text)}</desc>'
    )
    return head + body
