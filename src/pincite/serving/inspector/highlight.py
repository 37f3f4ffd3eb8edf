"""Where a text holds the words of a question, as full-text search compares them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import regex  # type: ignore[import-untyped]

from pincite.analysis import UNSPACED, analyze

Span = tuple[int, int]

_WORD = regex.compile(r"\w+")
_RUN = regex.compile(rf"[{UNSPACED}]+")
_CLUSTER = regex.compile(r"\X")


@dataclass(frozen=True)
class Piece:
    """A part of a text; put together in order, the pieces are the text."""

    text: str
    marked: bool


def pieces(text: str, *questions: str) -> list[Piece]:
    """The text in pieces, those marked that are words of one of the questions."""
    return cut(text, word_spans(text, *questions))


def cut(text: str, spans: Iterable[Span]) -> list[Piece]:
    """The text in pieces, those marked that are in one of the spans; none is empty.

    Args:
        text: Any text.
        spans: Characters ``[start:end]`` of it, ascending, none overlapping another.
    """
    found: list[Piece] = []
    end = 0
    for start, stop in spans:
        found += [Piece(text[end:start], False), Piece(text[start:stop], True)]
        end = stop
    found.append(Piece(text[end:], False))
    return [piece for piece in found if piece.text]


def word_spans(text: str, *questions: str) -> list[Span]:
    """Characters of the text that are words of the questions, ascending, touching ones joined.

    A word of a spaced script matches whole, by its stem. In scripts without blanks pairs of
    characters match; a single one only where the question has it alone, for in every text some
    character of a long question stands somewhere.
    """
    wanted = _telling({term for question in questions for term in analyze(question)})
    if not wanted:
        return []
    folded, places = _folded(text)
    found = (span for word in _WORD.finditer(folded) for span in _matches(word, wanted))
    return _joined((places[start][0], places[end - 1][1]) for start, end in found)


def _telling(terms: set[str]) -> frozenset[str]:
    """The terms without the characters of which a pair is there."""
    paired = {char for term in terms if len(term) == 2 and _RUN.fullmatch(term) for char in term}
    return frozenset(terms - paired)


def _matches(word: regex.Match[str], wanted: frozenset[str]) -> Iterator[Span]:
    end = word.start()
    for run in _RUN.finditer(word[0]):
        start = word.start() + run.start()
        yield from _stemmed(word.string, (end, start), wanted)
        yield from _characters(run[0], start, wanted)
        end = start + len(run[0])
    yield from _stemmed(word.string, (end, word.end()), wanted)


def _stemmed(text: str, span: Span, wanted: frozenset[str]) -> Iterator[Span]:
    if span[0] < span[1] and wanted.intersection(analyze(text[slice(*span)])):
        yield span


def _characters(run: str, at: int, wanted: frozenset[str]) -> Iterator[Span]:
    yield from ((at + i, at + i + 1) for i, one in enumerate(run) if one in wanted)
    for i, two in enumerate(map("".join, pairwise(run))):
        if two in wanted:
            yield at + i, at + i + 2


def _folded(text: str) -> tuple[str, list[Span]]:
    """The text as it is compared, and for each of its characters where that is in the text.

    What a reader sees as one character is normalised by itself, which keeps its place known.
    """
    if text.isascii():
        return text.casefold(), [(at, at + 1) for at in range(len(text))]
    parts: list[str] = []
    places: list[Span] = []
    for cluster in _CLUSTER.finditer(text):
        part = _fold(cluster[0])
        parts.append(part)
        places += [cluster.span()] * len(part)
    return "".join(parts), places


@lru_cache(maxsize=16_384)
def _fold(cluster: str) -> str:
    return unicodedata.normalize("NFKC", cluster).casefold()


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Ascending; those that overlap or touch become one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
