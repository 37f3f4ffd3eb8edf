"""Stamp: the catalogue says from here on what the store holds, or why it does not."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from pincite.catalog.documents import EMPTY, INDEXED, Failure, Stamp
from pincite.errors import WriteUnconfirmed
from pincite.identity import doc_id_fault
from pincite.schemas import outcomes
from pincite.schemas.notices import FAILURE
from pincite.schemas.outcomes import outcome
from pincite.wiring import current_workspace
from pincite.writing.tables import rows_of
from pincite.writing.target import Target


async def stamp(target: Target, drafts: pa.Table, rows: pa.Table, stale: pa.Table) -> pa.Table:
    """Stamp the drafts in one transaction; returns their outcomes.

    Raises:
        LeaseLost: Another writer took over; nothing is stamped.
    """
    digests = _chunk_digests(rows)
    documents = rows_of(drafts)
    stamps = [_stamp_of(row, digests.get(row["doc_id"], [])) for row in documents]
    await asyncio.to_thread(current_workspace().catalog.documents.stamp, target.writer, stamps)
    trimmed = Counter(stale["doc_id"].to_pylist())
    return outcomes.OUTCOMES.from_rows(
        outcome(
            made.doc_id,
            _name_of(made, row["previous_version"]),
            written=made.chunk_count,
            deleted=trimmed[made.doc_id],
        )
        for made, row in zip(stamps, documents, strict=True)
    )


def _name_of(made: Stamp, previous_version: int) -> str:
    if made.state == EMPTY:
        return outcomes.EMPTY
    return outcomes.UPDATED if previous_version else outcomes.ADDED


def _chunk_digests(rows: pa.Table) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    pairs = zip(rows["doc_id"].to_pylist(), rows["content_sha256"].to_pylist(), strict=True)
    for doc_id, digest in pairs:
        found.setdefault(doc_id, []).append(digest)
    return found


def _stamp_of(draft: dict[str, Any], digests: list[str]) -> Stamp:
    return Stamp(
        doc_id=draft["doc_id"],
        version=draft["doc_version"],
        fingerprint=draft["fingerprint"],
        chunk_count=len(digests),
        digest=chunks_digest(digests),
        state=INDEXED if digests else EMPTY,
        text_digest=draft["text_digest"],
        record=draft["record"],
    )


def chunks_digest(digests: Iterable[str]) -> str:
    """One hex SHA-256 over a document's chunk digests in order."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


async def fail(target: Target, documents: pa.Table, notices: pa.Table) -> pa.Table:
    """Record why documents failed; what the generation held of them stays. Returns outcomes.

    Args:
        target: Where the run writes.
        documents: Rows with ``doc_id``, ``kb_scope``, ``source_name`` and ``journalled``.
        notices: What happened; only failures count.
    """
    about = {row["doc_id"]: row for row in rows_of(documents)}
    failures = {
        row["doc_id"]: _failure_of(about[row["doc_id"]], row)
        for row in rows_of(notices)
        if row["severity"] == FAILURE
    }
    # What the store holds is unknown there: the open row makes sure that it is put right.
    closing = {
        doc_id
        for doc_id, failed in failures.items()
        if about[doc_id]["journalled"]
        and failed.code != WriteUnconfirmed.code
        and doc_id not in target.dirty
    }
    kept = [f for f in failures.values() if doc_id_fault(f.doc_id) is None]
    catalog = current_workspace().catalog
    await asyncio.to_thread(catalog.documents.fail, target.writer, kept, frozenset(closing))
    return outcomes.OUTCOMES.from_rows(outcome(doc_id, outcomes.FAILED) for doc_id in failures)


def _failure_of(about: dict[str, Any], row: dict[str, str]) -> Failure:
    return Failure(
        doc_id=row["doc_id"],
        kb_scope=about["kb_scope"],
        source_name=about["source_name"],
        source=row["source"],
        code=row["code"],
        message=row["message"],
    )
