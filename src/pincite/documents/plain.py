"""Plain text files: no frontmatter, no headings."""

from __future__ import annotations

from pincite.documents.decoding import decode
from pincite.documents.model import FoundFile, Parsed


def read(data: bytes, file: FoundFile) -> Parsed:
    """The text as it is; its first line is no title."""
    decoded = decode(data, file.source)
    return Parsed(decoded.text, {}, title="", reader="text/1", notices=decoded.warnings)
