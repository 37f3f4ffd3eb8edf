"""How an evidence key stands in running text: what may touch it, and what encloses it."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import regex  # type: ignore[import-untyped]

from pincite.identity import CHUNK_MARK, MAX_INDEX_DIGITS, parse_chunk_key

# Scripts that write words without blanks, or particles without one: they may touch a key.
_UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
)
_LETTER = rf"[\p{{L}}\p{{M}}\p{{Nd}}--[{_UNSPACED}]]"
_JOINT = r"/\\.\-#%@+~"
INDEX = rf"(?:0|[1-9][0-9]{{0,{MAX_INDEX_DIGITS - 1}}})"
# ``_`` between a key and a blank is emphasis.
WORD_FOLLOWS = rf"_*+{_LETTER}"
# In ``a#chunk-1#chunk-2`` the document is ``a#chunk-1``.
CHUNK_FOLLOWS = rf"{CHUNK_MARK}{INDEX}(?!{WORD_FOLLOWS})"
PART_FOLLOWS = rf"[{_JOINT}:=]{{0,4}}+{WORD_FOLLOWS}"

_BEFORE = regex.compile(rf"(?<![{_LETTER}{_JOINT}_])", regex.V1)
_AFTER_CHUNK = regex.compile(rf"(?!{WORD_FOLLOWS}|{CHUNK_FOLLOWS})", regex.V1)
_AFTER_OTHER = regex.compile(rf"(?!{PART_FOLLOWS})", regex.V1)

PAIRS = {
    "[": "]",
    "(": ")",
    "{": "}",
    "【": "】",
    "（": "）",
    "［": "］",
    "〔": "〕",
    "〖": "〗",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
    "“": "”",
    "‘": "’",
    "«": "»",
    "‹": "›",
}
_CLOSING = frozenset(PAIRS.values())


class Cite(NamedTuple):
    """An evidence key in a text: its key and the characters ``[start:end]`` that name it."""

    start: int
    end: int
    key: str


def stands_alone(text: str, start: int, end: int, key: str) -> bool:
    """Whether ``text[start:end]`` is the whole key and no part of a longer one."""
    after = _AFTER_OTHER if parse_chunk_key(key) is None else _AFTER_CHUNK
    return bool(_BEFORE.match(text, start) and after.match(text, end))


def last_open_bracket(text: str) -> int:
    """Index of the last opening sign whose partner does not follow in the text, else -1."""
    closed: Counter[str] = Counter()
    for place in range(len(text) - 1, -1, -1):
        sign = text[place]
        if sign in _CLOSING:
            closed[sign] += 1
        elif sign in PAIRS:
            if not closed[PAIRS[sign]]:
                return place
            closed[PAIRS[sign]] -= 1
    return -1
