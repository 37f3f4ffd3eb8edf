"""Where a text may be cut: grapheme clusters, and the ends of sentences and paragraphs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

import regex  # type: ignore[import-untyped]

# A longer run of joined characters is not treated as one cluster, so that work stays bounded.
MAX_CLUSTER_CHARS = 4_096

_NONSPACE = re.compile(r"\S")
_SPACE = re.compile(r"\s")
_CLOSERS = r"[\"'”’»)\]*_」』）】》]*"
_SENTENCE_END = rf"(?:[.!?…؟۔।]{_CLOSERS}(?=\s)|[。！？｡]{_CLOSERS})"
_FIRST_SENTENCE = re.compile(rf"{_SENTENCE_END}\s*|\n[^\S\n]*\n\s*")
# The greedy start makes the engine look from the end: the last one is found at once.
_LAST_SENTENCE = re.compile(rf"(?s:.*){_SENTENCE_END}")
_LAST_PARAGRAPH = re.compile(r"(?s:.*)(\n)[^\S\n]*\n")
_CLUSTER = regex.compile(r"\X")
# Between such a pair every version of the rules breaks; any other pair is asked properly.
_SURE_BREAK = regex.compile(
    r"(?<=[^\p{GCB=Prepend}\p{GCB=Extend}\p{GCB=ZWJ}\r])[\p{GCB=Other}\p{GCB=Control}\n\r]"
)


def skip_space(text: str, index: int) -> int:
    """The first place at or after ``index`` that is not whitespace; the text's end if none."""
    match = _NONSPACE.search(text, index)
    return match.start() if match else len(text)


def cluster_end(text: str, start: int) -> int:
    """One past the grapheme cluster that starts at ``start``."""
    # A slice, because the engine looks behind a start position, at flags without end.
    match = _CLUSTER.match(text[start : start + MAX_CLUSTER_CHARS])
    return start + int(match.end()) if match else len(text)


def grapheme_floor(text: str, index: int, floor: int) -> int:
    """The last boundary between grapheme clusters at or before ``index``.

    ``floor`` is a boundary at or before ``index``: the search goes back no further.
    """
    if index <= floor or index >= len(text):
        return index
    anchor = index
    while anchor > floor and not _surely_breaks(text, anchor):
        anchor -= 1
    if anchor == index:
        return index
    # Whether a place is a boundary is settled by what precedes it and the one character after.
    starts: list[int] = [match.start() for match in _CLUSTER.finditer(text[anchor : index + 1])]
    return anchor + starts[-1]


def _surely_breaks(text: str, index: int) -> bool:
    before, after = text[index - 1], text[index]
    if before < "\x80" and after < "\x80":
        return before != "\r" or after != "\n"
    return _SURE_BREAK.match(text, index) is not None


def best_cut(text: str, low: int, high: int, headings: Sequence[int]) -> int | None:
    """The best place to end a chunk in ``low..high``, both included.

    The strongest kind wins, then the latest place: before a heading (their starts, sorted, in
    ``headings``), after a paragraph, after a sentence, between words.
    """
    at = bisect_right(headings, high) - 1
    if at >= 0 and headings[at] >= low:
        return headings[at]
    for cut in (_last_paragraph, _last_sentence, _last_word):
        place = cut(text, low, high)
        if place is not None:
            return place
    return None


def _last_paragraph(text: str, low: int, high: int) -> int | None:
    match = _LAST_PARAGRAPH.match(text, low, min(high + 2, len(text)))
    return match.start(1) if match and match.start(1) <= high else None


def _last_sentence(text: str, low: int, high: int) -> int | None:
    # One character more lets the full stop at ``high`` see the space behind it.
    match = _LAST_SENTENCE.match(text, low, min(high + 1, len(text)))
    if match and match.end() > high:
        match = _LAST_SENTENCE.match(text, low, high)
    return match.end() if match else None


def _last_word(text: str, low: int, high: int) -> int | None:
    if text[high : high + 1].isspace() or text[high - 1].isspace():
        return high
    parts = text[low:high].rsplit(None, 1)
    if len(parts) == 2:
        return high - len(parts[1])
    return low + 1 if text[low].isspace() else None


def near_start(text: str, index: int, high: int, floor: int) -> int:
    """A good place to begin a chunk near ``index``, looking ahead to at most ``high``.

    The start of a sentence, else of a word, else of a grapheme cluster (at or before ``index``,
    not before the boundary ``floor``).
    """
    sentence = _FIRST_SENTENCE.search(text, max(index - 1, 0), high)
    if sentence and grapheme_floor(text, sentence.end(), floor) == sentence.end():
        return sentence.end()
    if index == 0 or text[index - 1].isspace():
        return index
    space = _SPACE.search(text, index, high)
    return space.end() if space else grapheme_floor(text, index, floor)
