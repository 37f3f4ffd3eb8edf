"""From what a reader made of a file to a document: identity, title, metadata, kept text."""

from __future__ import annotations

import dataclasses
import json
import re
import unicodedata

from pincite.documents.frontmatter import Known, known_fields
from pincite.documents.model import Document, FoundFile, Notice, Parsed, ReadResult
from pincite.errors import DocumentRejected
from pincite.identity import bytes_sha256, doc_id_fault, text_sha256

TITLE_SHORTENED = "TITLE_SHORTENED"
MAX_TITLE_BYTES = 1_000

_LEADING_BLANK_LINES = re.compile(r"(?:[^\S\n]|\ufeff)*\n")


def assemble(file: FoundFile, data: bytes, parsed: Parsed) -> ReadResult:
    """The document that a file holds.

    Raises:
        DocumentRejected: Its ``doc_id`` is blank, too long or holds control characters.
    """
    known = known_fields(dict(parsed.fields))
    doc_id = _doc_id(known, file)
    title, shortened = _shorten(known.title or parsed.title or file.path.stem, file.source)
    text = kept_text(parsed.text)
    document = Document(
        doc_id=doc_id,
        source=file.source,
        source_name=file.source_name,
        category=known.category,
        title=title,
        summary=known.summary,
        keywords=known.keywords,
        tags=known.tags,
        aliases=known.aliases,
        metadata=json.dumps(known.rest, sort_keys=True, ensure_ascii=False, allow_nan=False),
        text=text,
        text_digest=text_sha256(text),
        raw_sha256=bytes_sha256(data),
        reader=parsed.reader,
    )
    named = (dataclasses.replace(n, source=n.source or file.source) for n in parsed.notices)
    return ReadResult(document, (*named, *shortened))


def kept_text(body: str) -> str:
    """The body without blank lines (and byte order marks) before it and whitespace after it.

    The first line keeps its indentation: in Markdown it can mean code.
    """
    start = 0
    while blank := _LEADING_BLANK_LINES.match(body, start):
        start = blank.end()
    text = body[start:].rstrip().removeprefix("\ufeff")
    return text if text.strip() else ""


def _doc_id(known: Known, file: FoundFile) -> str:
    given = file.source if known.doc_id is None else known.doc_id
    doc_id = unicodedata.normalize("NFC", given)
    fault = doc_id_fault(doc_id)
    if fault is not None:
        raise _rejected(file, doc_id, fault)
    return doc_id


def _rejected(file: FoundFile, doc_id: str, what: str) -> DocumentRejected:
    shown = doc_id if len(doc_id) <= 80 else f"{doc_id[:80]}…"
    return DocumentRejected(
        f"The doc_id {shown!r} of {file.source!r} {what}.",
        "Correct doc_id in the frontmatter, or the file's name where there is none.",
        source=file.source,
    )


def _shorten(title: str, source: str) -> tuple[str, tuple[Notice, ...]]:
    data = title.encode()
    if len(data) <= MAX_TITLE_BYTES:
        return title, ()
    message = f"The title of {source!r} has {len(data)} bytes; {MAX_TITLE_BYTES} are kept."
    short = data[:MAX_TITLE_BYTES].decode("utf-8", "ignore").rstrip()
    return short, (Notice(TITLE_SHORTENED, message, source),)
