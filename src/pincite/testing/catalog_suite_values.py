"""Values that the catalogue's conformance suite writes and expects."""

from __future__ import annotations

import json

from pincite.catalog.catalog import Catalog
from pincite.catalog.documents import EMPTY, INDEXED, Failure, Stamp
from pincite.catalog.journal import Draft, LedgerRow, Opened
from pincite.catalog.leases import Writer
from pincite.identity import chunk_key, text_sha256

CORPUS = "docs"
GENERATION = 1
TTL_MS = 30_000

# Pairs that some database or other calls equal, and ids that need quoting or all the room.
ODD_IDS = (
    "plain.md",
    "A",
    "a",
    "a ",
    "caf\u00e9",
    "cafe\u0301",
    "cafe",
    "stra\u00dfe",
    "strasse",
    'it\'s "quoted" `so` \\ 100%_',
    "\U0001f600/\u6c49\u5b57.md",
    "d#chunk-7",
    "tab\tnew\nline",
    "x" * 512,
    "\u6c49" * 170,
)


class HandClock:
    """Epoch milliseconds that pass only when told."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def forward(self, milliseconds: int) -> None:
        self.now += milliseconds


def record(**changes: object) -> str:
    """A document's metadata as JSON."""
    fields: dict[str, object] = {
        "kb_scope": "",
        "source_name": "manual",
        "source": "manual/a.md",
        "category": "guide",
        "title": "Über \U0001f600",
        "summary": "",
        "keywords": ["one", "zwei"],
        "tags": [],
        "aliases": [],
    }
    return json.dumps({**fields, **changes}, sort_keys=True, ensure_ascii=False)


def draft(doc_id: str, text: str = "text", **changes: object) -> Draft:
    """A draft of a document whose kept text is ``text``."""
    return Draft(doc_id, text_sha256(text), text_sha256(f"raw {text}"), record(**changes))


def ledger_rows(doc_id: str, chunks: int = 2, text: str = "text") -> list[LedgerRow]:
    """Ledger rows of ``chunks`` chunks, ten characters each."""
    return [
        LedgerRow(
            evidence_key=chunk_key(doc_id, index),
            doc_id=doc_id,
            chunk_index=index,
            content_sha256=text_sha256(f"{text} {index}"),
            char_start=10 * index,
            char_end=10 * index + 10,
            heading="Top > Sub",
        )
        for index in range(chunks)
    ]


def stamp_of(doc_id: str, version: int, chunks: int = 2, metadata: str = "") -> Stamp:
    """The stamp of a document that was written with ``chunks`` chunks."""
    return Stamp(
        doc_id=doc_id,
        version=version,
        fingerprint=text_sha256(f"{doc_id} {version}"),
        chunk_count=chunks,
        digest=text_sha256("digest"),
        state=INDEXED if chunks else EMPTY,
        text_digest=text_sha256("text"),
        record=metadata or record(),
    )


def failure_of(doc_id: str) -> Failure:
    """A failure of the document."""
    return Failure(doc_id, "", "manual", "manual/a.md", "READ_FAILED", "It does not open.")


def online(owner: str) -> Writer:
    """A writer without a lease: its open journal rows are its right to write."""
    return Writer(CORPUS, GENERATION, owner, fence=0, ttl_ms=TTL_MS)


def take(catalog: Catalog, owner: str = "first", generation: int = GENERATION) -> Writer:
    """The lease of a generation."""
    return catalog.leases.acquire(CORPUS, generation, owner, TTL_MS)


def start(catalog: Catalog, writer: Writer, *doc_ids: str, text: str = "text") -> Opened:
    """Open the writing of documents with two chunks each."""
    drafts = [draft(doc_id, text) for doc_id in doc_ids]
    rows = [row for doc_id in doc_ids for row in ledger_rows(doc_id, text=text)]
    return catalog.journal.open_writes(writer, drafts, rows)


def write(
    catalog: Catalog, writer: Writer, *doc_ids: str, text: str = "text", **changes: object
) -> dict[str, int]:
    """Open and stamp documents; their new version numbers."""
    opened = start(catalog, writer, *doc_ids, text=text)
    metadata = record(**changes)
    stamps = [stamp_of(doc_id, opened.versions[doc_id], metadata=metadata) for doc_id in doc_ids]
    catalog.documents.stamp(writer, stamps)
    return opened.versions


def held_ids(catalog: Catalog, *doc_ids: str, generation: int = GENERATION) -> list[str]:
    """Which of the documents the generation holds, sorted."""
    return sorted(catalog.documents.held(CORPUS, generation, doc_ids))
