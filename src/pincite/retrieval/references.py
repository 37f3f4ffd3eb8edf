"""Which evidence keys an agent's text cites, and which of them it was never given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pincite.retrieval.citation_text import Cite, stands_alone
from pincite.retrieval.unknown_keys import find_unknown


@dataclass(frozen=True)
class References:
    """The evidence keys of a text, each once.

    ``cited`` is in the order of first appearance; ``valid`` and ``unknown`` part it into what was
    returned and what was not. ``unused`` was returned and not cited, in the order of the results.
    """

    cited: tuple[str, ...]
    valid: tuple[str, ...]
    unknown: tuple[str, ...]
    unused: tuple[str, ...]


def guard_references(answer: str, results: Sequence[Mapping[str, Any]]) -> References:
    """Hold the citations of an agent's text against what a lookup returned.

    **Returned keys** are found as they are, whatever their characters: the longest first, each
    stretch of text once, and only where they stand alone. A key does not stand alone beside a
    letter, digit or ``_`` of a script that parts its words by spaces, nor after one of
    ``/ \\ . - # % @ + ~``: ``a#chunk-1`` is cited neither in ``a#chunk-12`` nor in
    ``b/a#chunk-1``. Chinese characters, blanks, quotes, brackets and other signs may touch it.

    **What else ends in** ``#chunk-<N>`` (N as Pincite writes it: ASCII digits, no leading zero)
    is a key too. Where it begins:

    - In a pair of ``[] () {}``, their full-width or Chinese forms, or typographic quotes: at the
      opening sign, when the closing one or a list separator (``, ; | & and`` and the like)
      follows the key. So it may hold blanks and commas, and brackets that come in pairs. After
      another key of the same pair it begins behind the separator.
    - Directly before a backquote, a straight quote or ``>``: at the last such opening sign.
    - In a Markdown footnote ``[^1]: key``, when the line's end or a list separator follows:
      behind the colon.
    - Bare: behind the last blank, quote, ``|``, ``<``, ``>``, full-width punctuation or opening
      bracket without a partner; punctuation before its first character is not part of it. A
      bare key with a blank in it is therefore seen from its last blank on.

    A lead such as ``see``, ``Source:`` or ``来源：`` before it is left out. It lies in one line,
    and its document id has at most 500 bytes. ``vector:<id>`` and ``rank:<n>`` that were not
    returned count as keys when they stand alone; such an id holds no blank, quote, bracket,
    comma or semicolon. Percent-encoding is not resolved.

    Takes linear time in the length of the answer, times the number of returned keys.

    Args:
        answer: The agent's text, of any length.
        results: ``results`` of a lookup; ``document_id`` is the evidence key. A key that two
            corpora returned is one key here.

    Raises:
        KeyError: A result has no ``document_id``.
    """
    returned = dict.fromkeys(str(result["document_id"]) for result in results)
    known = find_returned(answer, returned)
    cites = sorted([*known, *find_unknown(answer, known)])
    cited = dict.fromkeys(cite.key for cite in cites)
    return References(
        cited=tuple(cited),
        valid=tuple(key for key in cited if key in returned),
        unknown=tuple(key for key in cited if key not in returned),
        unused=tuple(key for key in returned if key not in cited),
    )


def find_returned(answer: str, keys: Iterable[str]) -> list[Cite]:
    """Where the keys stand, in order of place; no two of them share a character."""
    taken = bytearray(len(answer))
    found: list[Cite] = []
    for key in sorted(keys, key=len, reverse=True):
        for start in _occurrences(answer, key):
            end = start + len(key)
            if taken.find(1, start, end) < 0 and stands_alone(answer, start, end, key):
                taken[start:end] = bytes([1]) * len(key)
                found.append(Cite(start, end, key))
    return sorted(found)


def _occurrences(text: str, key: str) -> Iterator[int]:
    start = text.find(key) if key else -1
    while start >= 0:
        yield start
        start = text.find(key, start + 1)
