"""Journal: keep the texts and open the documents' rows, before the store is touched."""

from __future__ import annotations

import asyncio
from typing import Any

import pyarrow as pa

from pincite.catalog.journal import Draft, LedgerRow, Opened
from pincite.documents.record import fingerprint_of, record_of
from pincite.errors import DocumentBusy
from pincite.schemas.chunks import CHUNKS
from pincite.schemas.drafts import DRAFTS
from pincite.schemas.notices import NOTICES, failure
from pincite.wiring import Workspace, current_workspace
from pincite.writing.tables import Journalled, rows_of, without
from pincite.writing.target import Target

_LEDGER_COLUMNS = list(LedgerRow.__dataclass_fields__)


async def journal(target: Target, documents: pa.Table, chunks: pa.Table) -> Journalled:
    """New versions, kept texts and ledger rows: whatever a reader may see can be cited."""
    return await asyncio.to_thread(_journal, current_workspace(), target, documents, chunks)


def _journal(
    workspace: Workspace, target: Target, documents: pa.Table, chunks: pa.Table
) -> Journalled:
    texts = workspace.texts.of(target.corpus)
    for text in documents["text"]:
        texts.put(text.as_py())
    rows = rows_of(documents.drop_columns(["text"]))
    for row in rows:
        row["record"] = record_of(row)
    opened = workspace.catalog.journal.open_writes(
        target.writer,
        [Draft(**{n: row[n] for n in Draft.__dataclass_fields__}) for row in rows],
        [LedgerRow(**row) for row in rows_of(chunks.select(_LEDGER_COLUMNS))],
    )
    held = workspace.catalog.documents.held(
        target.corpus, target.generation, [row["doc_id"] for row in rows]
    )
    previous = {doc_id: known.version for doc_id, known in held.items()}
    return Journalled(
        DRAFTS.from_rows(_drafts(target, rows, opened, previous)),
        _versioned(without(chunks, opened.busy), opened.versions),
        NOTICES.from_rows(_busy(row) for row in rows if row["doc_id"] in opened.busy),
    )


def _drafts(
    target: Target, rows: list[dict[str, Any]], opened: Opened, previous: dict[str, int]
) -> list[dict[str, Any]]:
    return [
        {
            **row,
            "doc_version": opened.versions[row["doc_id"]],
            "previous_version": previous.get(row["doc_id"], 0),
            "fingerprint": fingerprint_of(target.recipe, row["text_digest"], row["record"]),
        }
        for row in rows
        if row["doc_id"] not in opened.busy
    ]


def _busy(row: dict[str, Any]) -> dict[str, str]:
    error = DocumentBusy(f"Document {row['doc_id']!r} is being written by another writer.")
    return failure(row["doc_id"], row["source"], error)


def _versioned(chunks: pa.Table, versions: dict[str, int]) -> pa.Table:
    numbers = pa.array([versions[doc_id] for doc_id in chunks["doc_id"].to_pylist()], pa.int64())
    position = chunks.schema.get_field_index("doc_version")
    return CHUNKS.conform(chunks.set_column(position, "doc_version", numbers))
