"""Markdown files: frontmatter off, body as written."""

from __future__ import annotations

from pincite.documents.decoding import decode
from pincite.documents.frontmatter import split_frontmatter
from pincite.documents.headings import first_heading
from pincite.documents.model import FoundFile, Parsed


def read(data: bytes, file: FoundFile) -> Parsed:
    """The body without frontmatter; the title falls back to the first heading."""
    decoded = decode(data, file.source)
    split = split_frontmatter(decoded.text)
    return Parsed(
        text=split.body,
        fields=split.fields,
        title=first_heading(split.body),
        reader="markdown/1",
        notices=decoded.warnings + split.warnings,
    )
