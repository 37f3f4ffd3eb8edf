"""Bytes to text: UTF-8 with or without a byte order mark, and UTF-16 with one."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from pincite.documents.model import Notice
from pincite.errors import EncodingUnsupported

NUL_REMOVED = "NUL_REMOVED"

_UTF32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Decoded:
    """Text with LF line ends, without NUL, byte order mark or lone surrogates."""

    text: str
    warnings: tuple[Notice, ...] = ()


def decode(data: bytes, source: str) -> Decoded:
    """Decode a file's bytes.

    CRLF and CR become LF. NUL characters are removed, with the warning ``NUL_REMOVED``.

    Args:
        data: The file's bytes.
        source: Location a person knows, for messages.

    Raises:
        EncodingUnsupported: The bytes are neither UTF-8 nor UTF-16 with a byte order mark.
    """
    text = _unicode(data, source).replace("\r\n", "\n").replace("\r", "\n")
    count = text.count("\0")
    if not count:
        return Decoded(text)
    message = f"{count} NUL characters were removed from {source!r}; check that it is a text file."
    return Decoded(text.replace("\0", ""), (Notice(NUL_REMOVED, message, source),))


def _unicode(data: bytes, source: str) -> str:
    # A UTF-32 LE mark starts with the UTF-16 LE one, so it is looked for first.
    if data.startswith(_UTF32_MARKS):
        raise EncodingUnsupported(f"{source!r} is UTF-32.", source=source)
    mark, encoding = next((m for m in _MARKS if data.startswith(m[0])), (b"", "utf-8"))
    try:
        return data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as exc:
        raise EncodingUnsupported(
            f"{source!r} is not valid {encoding.upper()} at byte {exc.start + len(mark)}.",
            source=source,
            byte=exc.start + len(mark),
        ) from exc
