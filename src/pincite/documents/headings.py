"""Markdown headings: where they are, how deep, and the path of headings above a place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

SEPARATOR = " > "
# A longer line is kept as text, but is no use as a signpost.
MAX_TITLE_CHARS = 200

# Looked for after a literal line break: three times as fast as an anchor at each line's start.
_STRUCTURE = re.compile(
    r"\n {0,3}(?=[#`~=-])"
    r"(?:(#{1,6})(?:[ \t]+([^\n]*))?(?=\n)|(`{3,}|~{3,})([^\n]*)|(=+|-+)[ \t\r]*(?=\n))"
)
_CLOSING_HASHES = re.compile(r"(?:^|[ \t])#+$")
_ATTRIBUTES = re.compile(r"[ \t]*\{[#.][^{}]*\}$")
_NOT_A_PARAGRAPH = re.compile(r" {4}|\t| {0,3}(?:[>|#]|[-*+][ \t]|\d{1,9}[.)][ \t]|`{3}|~{3})")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: first character of its line, level 1 to 6, and its words without markup."""

    start: int
    level: int
    title: str


def find_headings(text: str) -> list[Heading]:
    """ATX and one-line setext headings outside of fenced code, in order of place.

    A fence that is never closed runs to the end, as in CommonMark.
    """
    headings: list[Heading] = []
    fence = ""
    last_end = -1
    for match in _STRUCTURE.finditer(f"\n{text}\n"):
        hashes, title, mark, info, underline = match.groups()
        if fence:
            fence = "" if mark and _closes(fence, mark, info) else fence
        elif mark:
            fence = "" if mark[0] == "`" and "`" in info else mark
        elif hashes:
            headings.append(Heading(match.start(), len(hashes), _title(title or "")))
        else:
            _add_setext(headings, text, match.start(), underline, last_end)
        last_end = match.end() - 1
    return headings


def first_heading(text: str) -> str:
    """The words of the first heading that has any, ``""`` where there is none."""
    return next((heading.title for heading in find_headings(text) if heading.title), "")


def heading_paths(headings: Sequence[Heading]) -> list[str]:
    """For each heading the path down to it: ``"Guide > Install > From source"``.

    Titles are cut to ``MAX_TITLE_CHARS`` characters.
    """
    paths: list[str] = []
    above: list[Heading] = []
    for heading in headings:
        above = [*(h for h in above if h.level < heading.level), heading]
        paths.append(SEPARATOR.join(h.title[:MAX_TITLE_CHARS] for h in above if h.title))
    return paths


def _closes(fence: str, mark: str, info: str) -> bool:
    return mark[0] == fence[0] and len(mark) >= len(fence) and not info.strip()


def _title(raw: str) -> str:
    words = _CLOSING_HASHES.sub("", raw.strip()).rstrip()
    return _ATTRIBUTES.sub("", words).strip()


def _add_setext(
    headings: list[Heading], text: str, underline_start: int, underline: str, last_end: int
) -> None:
    start = text.rfind("\n", 0, max(underline_start - 1, 0)) + 1
    line = text[start : max(underline_start - 1, 0)]
    if not line.strip() or start <= last_end or _NOT_A_PARAGRAPH.match(line):
        return
    before = text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)]
    if start == 0 or not before.strip() or last_end == start - 1:
        headings.append(Heading(start, 1 if underline[0] == "=" else 2, _title(line)))
