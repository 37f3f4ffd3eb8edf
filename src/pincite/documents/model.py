"""The values that pass between discovery, the readers and their callers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


@dataclass(frozen=True)
class Notice:
    """Something odd that did not stop the work.

    ``source`` is the location a person knows, ``""`` until the caller that knows it fills it in.
    """

    code: str
    message: str
    source: str = ""


@dataclass(frozen=True)
class FoundFile:
    """A file that a folder sync found.

    Attributes:
        path: Absolute path on this machine.
        source: ``<source name>/<path below the synced folder>``, POSIX separators, Unicode NFC.
        size: Bytes on disk when it was found.
    """

    path: Path
    source: str
    size: int

    @property
    def source_name(self) -> str:
        """The name of the synced folder: what stands before the first slash of ``source``."""
        return self.source.partition("/")[0]


@dataclass(frozen=True)
class Parsed:
    """What a format's reader makes of a file's bytes.

    Attributes:
        text: The body, not yet stripped.
        fields: Frontmatter or what the format has in its place, as JSON values.
        title: Title to fall back to when ``fields`` has none, ``""`` = none.
        reader: ``<reader name>/<version>``.
        notices: What was odd; their ``source`` may be empty.
    """

    text: str
    fields: Mapping[str, JSON]
    title: str
    reader: str
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class Document:
    """One document as read: the columns of ``schemas/documents.py`` without ``kb_scope``.

    ``text`` is the kept text: line ends are LF, no byte order mark, no NUL, no frontmatter, no
    blank lines before it and no whitespace after it. ``metadata`` is JSON text with sorted keys.
    """

    doc_id: str
    source: str
    source_name: str
    category: str
    title: str
    summary: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    metadata: str
    text: str
    text_digest: str
    raw_sha256: str
    reader: str


@dataclass(frozen=True)
class ReadResult:
    """A document and what was odd about it."""

    document: Document
    warnings: tuple[Notice, ...] = ()
