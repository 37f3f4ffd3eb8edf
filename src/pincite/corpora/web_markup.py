"""Tells HTML from text that only holds signs of it: code, comparisons, talk about tags."""

from __future__ import annotations

import re
from collections import Counter

# Shares of the characters that stand inside elements. What begins with a tag is more likely HTML.
LEAST_SHARE_AT_START = 0.5
LEAST_SHARE_WITHIN = 0.8
LEAST_TAGS = 2

_BEFORE = re.compile(r"(?:[\s\ufeff]|<!--.*?-->|<\?xml[^>]*>)*", re.DOTALL)
_DOCUMENT = re.compile(r"<!doctype\s+html\b|<(?:html|head|body)[\s/>]", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-z][a-z0-9-]*)(?:\s[^<>]*)?/?>", re.IGNORECASE)
# Code in Markdown may be HTML; the text around it is not.
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_ELEMENTS = frozenset(
    {
        "a", "address", "article", "aside", "b", "blockquote", "center", "dd", "details", "div",
        "dl", "dt", "em", "figcaption", "figure", "font", "footer", "form", "h1", "h2", "h3", "h4",
        "h5", "h6", "header", "i", "li", "main", "nav", "noscript", "ol", "p", "pre", "script",
        "section", "span", "strong", "style", "table", "tbody", "td", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
_INLINE = frozenset({"a", "b", "em", "font", "i", "span", "strong"})
# They have no closing tag, or it may be left out; the others nest without one.
_UNCLOSED = frozenset(
    {
        "area", "base", "br", "caption", "col", "colgroup", "dd", "dt", "embed", "hr", "img",
        "input", "li", "link", "meta", "optgroup", "option", "p", "param", "rp", "rt", "source",
        "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
    }
)  # fmt: skip

# What looks like a tag inside of them is none.
_VERBATIM = frozenset({"script", "style"})


def document_start(text: str) -> int | None:
    """Where an HTML document begins after comments and blanks; ``None`` = it is no document."""
    start = _end_of_lead(text)
    return start if _DOCUMENT.match(text, start) else None


def is_html(text: str) -> bool:
    """Whether the text is an HTML document or a part of one.

    A document says so at its start. A part of one has most of its characters inside elements that
    are opened and closed; what begins with a tag may lack the last closing tags.
    """
    if document_start(text) is not None:
        return True
    first = _TAG.match(text, _end_of_lead(text))
    at_start = first is not None and _is_element(first)
    plain = text if at_start else _CODE.sub("", text)
    elements = _Elements()
    for tag in filter(_is_element, _TAG.finditer(plain)):
        elements.take(tag)
    if at_start:
        elements.close_all(len(plain))
    least = LEAST_SHARE_AT_START if at_start else LEAST_SHARE_WITHIN
    return elements.tags >= LEAST_TAGS and elements.inside >= least * len(plain.strip())


def nesting(text: str) -> int:
    """How deep elements are nested at most: a rough upper bound."""
    deepest = depth = 0
    verbatim = ""
    for tag in filter(_nests, _TAG.finditer(text)):
        name = tag[2].lower()
        if verbatim and not (tag[1] and name == verbatim):
            continue
        verbatim = name if name in _VERBATIM and not tag[1] else ""
        depth = max(0, depth - 1) if tag[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _nests(tag: re.Match[str]) -> bool:
    return tag[2].lower() not in _UNCLOSED and not tag[0].endswith("/>")


def _end_of_lead(text: str) -> int:
    lead = _BEFORE.match(text)
    return lead.end() if lead else 0


def _is_element(tag: re.Match[str]) -> bool:
    return tag[2].lower() in _ELEMENTS


class _Elements:
    """Which elements are open, and how many characters were inside of any."""

    def __init__(self) -> None:
        self.tags = 0
        self.inside = 0
        self._open: list[str] = []
        self._counts: Counter[str] = Counter()
        self._start = 0

    def take(self, tag: re.Match[str]) -> None:
        self.tags += 1
        name = tag[2].lower()
        if not tag[1]:
            self._push(name, tag.start())
        elif self._counts[name]:
            self._close(name, tag.end())

    def close_all(self, end: int) -> None:
        if self._open:
            self._close(self._open[0], end, all=True)

    def _push(self, name: str, at: int) -> None:
        # A paragraph ends where the next block begins.
        if self._open and self._open[-1] == "p" and name not in _INLINE:
            self._close("p", at)
        if not self._open:
            self._start = at
        self._open.append(name)
        self._counts[name] += 1

    def _close(self, name: str, end: int, *, all: bool = False) -> None:
        while self._open:
            last = self._open.pop()
            self._counts[last] -= 1
            if last == name and not all:
                break
        if not self._open:
            self.inside += end - self._start
