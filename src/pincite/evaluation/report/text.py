"""Text of cases and documents as a report shows it: nothing in it acts, everything is seen."""

from __future__ import annotations

import re
import unicodedata

# Controls, formats (direction marks among them), surrogates, private use, separators of lines.
_ACTING = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
# They join letters and emoji, and do nothing else.
_JOINERS = "\u200c\u200d"

NOTHING = "–"

# What Markdown reads, `$` and `~` of its dialects included; between letters `_` is a letter.
_MARKS = re.compile(r"[\\`*\[\]{}|~$#!]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def visible(text: str) -> str:
    r"""The text in one line, with escapes in place of what a reader would not see.

    A newline is shown as ``\n``, a mark that turns the direction as ``\u202e``.
    """
    return "".join(_escaped(char) if _acts(char) else char for char in text)


def markdown(text: object) -> str:
    """The text as a cell of a Markdown table or a part of a line shows it; never empty."""
    plain = visible(str(text)).strip() or NOTHING
    marked = _MARKS.sub(lambda match: f"\\{match[0]}", plain)
    return "".join(_ENTITIES.get(char, char) for char in marked)


def _acts(char: str) -> bool:
    return unicodedata.category(char) in _ACTING and char not in _JOINERS


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
