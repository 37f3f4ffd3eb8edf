"""Evidence keys in a text that nobody returned: where they begin and end.

The rules are those that ``guard_references`` states. Each stretch of text between two keys is
read once, which keeps hostile text cheap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import regex  # type: ignore[import-untyped]

from pincite.identity import (
    CHUNK_MARK,
    RANK_PREFIX,
    VECTOR_PREFIX,
    doc_id_fault,
    parse_chunk_key,
)
from pincite.retrieval.citation_text import (
    CHUNK_FOLLOWS,
    INDEX,
    PAIRS,
    PART_FOLLOWS,
    WORD_FOLLOWS,
    Cite,
    last_open_bracket,
    stands_alone,
)

# A footnote's text is enclosed by its label and the end of the line.
_FOOTNOTE = "\n"
_ENDS = {**PAIRS, _FOOTNOTE: ""}

_MARK = regex.compile(
    rf"(?<!\s){CHUNK_MARK}{INDEX}(?!{WORD_FOLLOWS}|{CHUNK_FOLLOWS})",
    regex.V1,
)
_OTHER = regex.compile(
    rf"{RANK_PREFIX}{INDEX}(?!{PART_FOLLOWS})"
    rf"|{VECTOR_PREFIX}(?=[\p{{L}}\p{{N}}_])[^\s\p{{Ps}}\p{{Pe}}\p{{Pi}}\p{{Pf}}\"'`<>|*,;，；：、。！？]+",
    regex.V1,
)
_LINE_BREAK = regex.compile(r"[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]", regex.V1)
_LABEL = regex.compile(r"[ ]*\[\^[^\]\s]+\]:", regex.V1)
_BLANKS = regex.compile(r"[ \u00a0\u3000]*+", regex.V1)
_SEPARATOR = regex.compile(
    r"[ \u00a0\u3000]*+(?:[,;|&+/，；、｜]|(?:and|or)(?=\s)|[和与及或])(?:\s*+(?:and|or)(?=\s))?",
    regex.V1,
)
_LEAD = regex.compile(
    r"""(?:\s | [*^]
    | (?:see\s+also|see|cf\.?)\s*:?\s
    | (?:sources?|references?|refs?|citations?|cite|evidence)\s*[:：]
    | (?:来源|出处|引用|证据|参考|依据|根据|参见|详见|另见|请看|见)(?:\s*[:：]|\s|(?=[!-~]))
    )*+""",
    regex.V1 | regex.VERBOSE | regex.IGNORECASE,
)
_BARE_STOP = regex.compile(r"[\s\"`<>|“”«»‹›，；：、。！？…]", regex.V1)
_EDGE = regex.compile(r"[[\p{P}\p{Sm}^`]--[/._~@#%+&]]*+", regex.V1)
_QUOTES = {
    **{sign: regex.compile(rf"(?<!\w){sign}(?=\S)", regex.V1) for sign in ('"', "'", "`")},
    ">": regex.compile("<", regex.V1),
}


class _Line(NamedTuple):
    """The text of a line between the key before and this one."""

    text: str
    is_whole: bool


class _Place(NamedTuple):
    """What encloses a key, ``""`` = nothing, and the text from there to its mark, if known."""

    opener: str
    content: str | None


def find_unknown(answer: str, known: Sequence[Cite]) -> list[Cite]:
    """The keys outside of the known ones; ``known`` in order of place."""
    taken = bytearray(len(answer))
    for cite in known:
        taken[cite.start : cite.end] = bytes([1]) * (cite.end - cite.start)
    others = list(_other_keys(answer, taken))
    return others + list(_chunk_keys(answer, sorted([*known, *others]), taken))


def _chunk_keys(answer: str, known: Sequence[Cite], taken: bytearray) -> Iterator[Cite]:
    marks = (Cite(match.start(), match.end(), "") for match in _MARK.finditer(answer))
    stops = sorted([*known, *(mark for mark in marks if not taken[mark.start])])
    last, opener = 0, ""
    for stop in stops:
        line = _line(answer, last, stop.start)
        place = _place(line, "" if line.is_whole else opener)
        if not stop.key and (key := _key(answer, stop, line.text, place)):
            yield Cite(stop.end - len(key), stop.end, key)
        last, opener = stop.end, place.opener


def _line(answer: str, start: int, end: int) -> _Line:
    parts = _LINE_BREAK.split(answer[start:end])
    return _Line(parts[-1], start == 0 or len(parts) > 1)


def _place(line: _Line, inherited: str) -> _Place:
    """``inherited``: what encloses the key before, on the same line."""
    start = last_open_bracket(line.text)
    if start >= 0:
        return _Place(line.text[start], line.text[start + 1 :])
    label = _LABEL.match(line.text)
    if label is not None:
        return _Place(_FOOTNOTE, line.text[label.end() :])
    if not inherited or _is_closed(line.text, inherited):
        return _Place("", None)
    separator = _SEPARATOR.match(line.text)
    return _Place(inherited, line.text[separator.end() :] if separator else None)


def _is_closed(text: str, opener: str) -> bool:
    if opener == _FOOTNOTE:
        return False
    return text.count(PAIRS[opener]) > text.count(opener)


def _key(answer: str, mark: Cite, line: str, place: _Place) -> str | None:
    """The key that ends with the mark; ``None`` when no document id stands before it."""
    ending = answer[mark.start : mark.end]
    emphasised = answer.startswith("_", mark.end)
    bare = _bare(line).lstrip("_" if emphasised else "")
    readings = (_quoted(answer, mark, line), _enclosed(answer, mark, place), bare)
    keys = (f"{doc_id}{ending}" for doc_id in readings if doc_id)
    return next((key for key in keys if _is_key(key)), None)


def _is_key(text: str) -> bool:
    parsed = parse_chunk_key(text)
    return parsed is not None and doc_id_fault(parsed.doc_id) is None


def _quoted(answer: str, mark: Cite, line: str) -> str | None:
    opening = _QUOTES.get(answer[mark.end : mark.end + 1])
    starts = [match.end() for match in opening.finditer(line)] if opening else []
    return _without_lead(line[starts[-1] :]) if starts else None


def _enclosed(answer: str, mark: Cite, place: _Place) -> str | None:
    if place.content is None or not _is_ended(answer, mark.end, _ENDS[place.opener]):
        return None
    return _without_lead(place.content)


def _is_ended(answer: str, end: int, closing: str) -> bool:
    """Whether the enclosing sign, or the next key of a list, comes after ``end``."""
    if _SEPARATOR.match(answer, end):
        return True
    blanks: int = _BLANKS.match(answer, end).end()
    if closing:
        return answer.startswith(closing, blanks)
    return blanks == len(answer) or _LINE_BREAK.match(answer, blanks) is not None


def _bare(line: str) -> str:
    token: str = _BARE_STOP.split(line)[-1]
    token = _without_lead(token[last_open_bracket(token) + 1 :])
    return token[_EDGE.match(token).end() :]


def _without_lead(text: str) -> str:
    return text[_LEAD.match(text).end() :]


def _other_keys(answer: str, taken: bytearray) -> Iterator[Cite]:
    """``vector:<id>`` and ``rank:<n>``, unless they begin a chunk's key."""
    for match in _OTHER.finditer(answer):
        key = match[0].rstrip(".:!?-_~…")
        start, end = match.start(), match.start() + len(key)
        after_colon = start > 0 and answer[start - 1] == ":"
        alone = stands_alone(answer, start, end, key) and not after_colon
        if alone and taken.find(1, start, end) < 0 and not _MARK.search(key):
            yield Cite(start, end, key)
