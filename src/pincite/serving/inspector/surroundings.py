"""A span of a text with what stands around it."""

from __future__ import annotations

from dataclasses import dataclass

USUAL = 800
MOST = 200_000


@dataclass(frozen=True)
class Around:
    """``before + span + after`` stands so in the text; what is left out are characters."""

    before: str
    span: str
    after: str
    left_before: int
    left_after: int


def around(text: str, start: int, end: int, width: int) -> Around:
    """The span ``text[start:end]`` with about ``width`` characters on each side.

    Cut where a line begins or ends, else at a blank, else in the middle of a word; no blank line
    comes first.
    """
    first = _line_from(text, max(0, start - width), start)
    while first and first < start and text[first] in "\r\n":
        first += 1
    last = _line_to(text, end, min(len(text), end + width))
    return Around(
        before=text[first:start],
        span=text[start:end],
        after=text[end:last],
        left_before=first,
        left_after=len(text) - last,
    )


def _line_from(text: str, first: int, start: int) -> int:
    if not first:
        return 0
    for sign in ("\n", " "):
        at = text.find(sign, first, start)
        if at >= 0:
            return at + 1
    return first


def _line_to(text: str, end: int, last: int) -> int:
    if last == len(text):
        return last
    for sign in ("\n", " "):
        at = text.rfind(sign, end, last)
        if at >= 0:
            return at
    return last
