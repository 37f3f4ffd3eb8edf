"""Phrases: the normal form in which document metadata and queries are compared.

A text becomes units: words of scripts that part them by spaces, as ``pincite.analysis`` has them
(stemmed, without stop words), and the single characters of other scripts, all of them. A phrase
is found in a query when its units stand there side by side, so that no dictionary has to say
where a Chinese word begins: ``hnsw 索引`` is in ``怎么调HNSW索引参数``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

import regex  # type: ignore[import-untyped]

from pincite.analysis import UNSPACED, analyze

MAX_WORDS = 8
MAX_CHARACTERS = 24
MAX_PHRASE_LENGTH = 80

MAX_CANDIDATES = 120
MAX_QUERY_UNITS = 40
MAX_QUERY_LENGTH = 2_000
_MAX_RUN = 8
_MAX_RUN_WORDS = 5

# The scripts that pincite.analysis takes apart into characters.
_WORD = regex.compile(r"\w+")
_PIECE = regex.compile(rf"[{UNSPACED}]|[^{UNSPACED}\s]+")
_CHARACTER = regex.compile(rf"[{UNSPACED}]")
_GAP = regex.compile(rf"(?<=[{UNSPACED}]) (?=[{UNSPACED}])")


def units(text: str) -> list[str]:
    """Words and single characters of a text, in order."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if folded.isascii():
        return analyze(folded)
    pieces = (piece for word in _WORD.findall(folded) for piece in _PIECE.findall(word))
    return [unit for piece in pieces for unit in _unit(piece)]


def units_of_phrase(phrase: str) -> list[str]:
    """The units that a phrase was made of."""
    return list(_PIECE.findall(phrase))


def is_character(unit: str) -> bool:
    """Whether the unit is a single character of a script without spaces."""
    return len(unit) == 1 and not unit.isascii() and _CHARACTER.match(unit) is not None


@lru_cache(4_096)
def phrase_of(text: str) -> str:
    """The normal form of a whole text; ``""`` when it is too short or too long for a phrase.

    At least 2 characters, at most 8 words, 24 characters of scripts without spaces, and 80
    characters in all.
    """
    return _phrase(units(text[: 4 * MAX_PHRASE_LENGTH]))


def phrases_in(query: str) -> list[str]:
    """Every phrase that may be in the query, at most 120, without repetition.

    The whole query, then its runs of 1 to 8 units with at most 5 words, shorter ones first.
    Of a long query the first 2,000 characters and 40 units count.
    """
    found = units(query[:MAX_QUERY_LENGTH])
    whole = _phrase(found)
    runs = (_phrase(run) for run in _runs(found[:MAX_QUERY_UNITS]))
    candidates = dict.fromkeys(phrase for phrase in (whole, *runs) if phrase)
    return list(candidates)[:MAX_CANDIDATES]


def _runs(found: Sequence[str]) -> Iterator[Sequence[str]]:
    for length in range(1, _MAX_RUN + 1):
        for start in range(len(found) - length + 1):
            run = found[start : start + length]
            if length <= _MAX_RUN_WORDS or _words(run) <= _MAX_RUN_WORDS:
                yield run


def _unit(piece: str) -> list[str]:
    # Analysed as a text of its own, a character that is a stop word would be lost: 的 of 的士.
    return [piece] if is_character(piece) else analyze(piece)


def _phrase(found: Sequence[str]) -> str:
    words = _words(found)
    if words > MAX_WORDS or len(found) - words > MAX_CHARACTERS:
        return ""
    phrase: str = _GAP.sub("", " ".join(found))
    return phrase if 2 <= len(phrase) <= MAX_PHRASE_LENGTH else ""


def _words(found: Sequence[str]) -> int:
    return sum(not is_character(unit) for unit in found)
