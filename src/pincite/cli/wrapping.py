"""Text of documents on a terminal: shown as it is, without what a terminal would obey."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells

LEAST_WIDTH, MOST_WIDTH = 40, 100

# Controls, formats (direction marks among them), surrogates, private use, separators of lines.
_OBEYED = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
# They join letters and emoji, and do nothing else.
_JOINERS = "\u200c\u200d"
# One wide character, with the punctuation that must not begin a line; or a word.
_WIDE = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60"
_PIECE = re.compile(rf"\s+|[{_WIDE}][，。；：、！？）】」』》〉…”’]*|[^\s{_WIDE}]+")


def terminal_width() -> int:
    """Columns of the terminal; 80 in a pipe, unless ``COLUMNS`` says otherwise."""
    return max(LEAST_WIDTH, min(MOST_WIDTH, shutil.get_terminal_size().columns))


def harmless(text: str) -> str:
    r"""The text in one line, with escapes in place of what a terminal would obey.

    ``ESC`` is shown as ``\x1b``, a mark that turns the direction as ``\u202e``.
    """
    return "".join(_escaped(char) if _is_obeyed(char) else char for char in text)


def _is_obeyed(char: str) -> bool:
    return unicodedata.category(char) in _OBEYED and char not in _JOINERS


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def wrapped(text: str, width: int) -> Iterator[str]:
    """The text in lines of at most ``width`` cells, a wide character counting two.

    Breaks between words and beside Chinese and Japanese characters; a word that is wider than a
    line is folded. What a terminal would obey is escaped, a tab becomes blanks.
    """
    for line in text.replace("\r\n", "\n").split("\n"):
        yield from _wrapped_line(harmless(line.expandtabs(4)), width)


def _wrapped_line(text: str, width: int) -> Iterator[str]:
    line = ""
    for piece in _PIECE.findall(text):
        if line and cell_len(line + piece.rstrip()) > width:
            yield line.rstrip()
            line = ""
            piece = piece.lstrip()
        line += piece
        if cell_len(line.rstrip()) > width:
            *full, line = chop_cells(line, width)
            yield from full
    yield line.rstrip()


def hanging(first: str, rest: str, width: int) -> str:
    """``first`` and ``rest`` behind it, with the lines of ``rest`` below each other."""
    indent = cell_len(first)
    return first + f"\n{' ' * indent}".join(wrapped(rest, width - indent))
