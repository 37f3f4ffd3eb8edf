"""What a writer reports of a document, as rows of the catalogue's tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pincite.catalog.leases import Writer
from pincite.catalog.postings import posting_rows
from pincite.scopes import scope_columns


@dataclass(frozen=True)
class Stamp:
    """The end of one document's writing: what is in the store now, and its L0 metadata.

    ``digest`` is over the chunks' content digests in order; ``record`` the metadata as JSON.
    """

    doc_id: str
    version: int
    fingerprint: str
    chunk_count: int
    digest: str
    state: str
    text_digest: str
    record: str


@dataclass(frozen=True)
class Failure:
    """Why a document could not be written; what it held before stays as it was."""

    doc_id: str
    kb_scope: str
    source_name: str
    source: str
    code: str
    message: str


def indexed_row(writer: Writer, stamp: Stamp, now: int) -> dict[str, Any]:
    """The row of ``indexed`` of a document that was written."""
    record = json.loads(stamp.record)
    return {
        "corpus": writer.corpus,
        "generation": writer.generation,
        "doc_id": stamp.doc_id,
        "kb_scope": record["kb_scope"],
        "source_name": record["source_name"],
        "source": record["source"],
        "fingerprint": stamp.fingerprint,
        "version": stamp.version,
        "chunk_count": stamp.chunk_count,
        "digest": stamp.digest,
        "state": stamp.state,
        "error_code": "",
        "error_message": "",
        "attempts": 0,
        "updated_at": now,
    }


def failed_row(writer: Writer, failure: Failure, error: dict[str, Any]) -> dict[str, Any]:
    """The row of ``indexed`` of a document that failed before anything was held of it."""
    return {
        "corpus": writer.corpus,
        "generation": writer.generation,
        "doc_id": failure.doc_id,
        "kb_scope": failure.kb_scope,
        "source_name": failure.source_name,
        "source": failure.source,
        "fingerprint": "",
        "version": 0,
        "chunk_count": 0,
        "digest": "",
        "attempts": 1,
        **error,
    }


def l0_row(writer: Writer, stamp: Stamp, now: int) -> dict[str, Any]:
    """The row of ``documents``: the document's L0 metadata."""
    record = json.loads(stamp.record)
    texts = ("kb_scope", "source_name", "source", "category", "title", "summary")
    lists = ("keywords", "tags", "aliases")
    return {
        "corpus": writer.corpus,
        "doc_id": stamp.doc_id,
        "version": stamp.version,
        **{name: record[name] for name in texts},
        **{name: json.dumps(record[name], ensure_ascii=False) for name in lists},
        "text_digest": stamp.text_digest,
        "updated_at": now,
    }


def term_rows(writer: Writer, stamp: Stamp) -> list[dict[str, str]]:
    """The rows of ``l0_terms``: the phrases by which the document is found.

    None where documents belong to somebody: words of one owner give no hint to another.
    """
    if scope_columns(writer.corpus):
        return []
    return posting_rows(writer.corpus, stamp.doc_id, json.loads(stamp.record))
