"""Chunk: cut documents into the spans that will be rows."""

from __future__ import annotations

import asyncio
from typing import Any

import pyarrow as pa

from pincite.identity import chunk_key, text_sha256
from pincite.schemas.chunks import CHUNKS
from pincite.schemas.notices import NOTICES, warning
from pincite.schemas.owner import NOBODY
from pincite.wiring import Workspace, current_workspace
from pincite.writing.metadata import LABEL_BYTES, row_metadata, shortened
from pincite.writing.tables import Chunked, rows_of
from pincite.writing.terms import row_terms


async def chunk(documents: pa.Table) -> Chunked:
    """The documents' chunks, by document and index; version 0 until they are journalled."""
    return await asyncio.to_thread(_chunk, current_workspace(), documents)


def _chunk(workspace: Workspace, documents: pa.Table) -> Chunked:
    rows: list[dict[str, Any]] = []
    notices: list[dict[str, str]] = []
    for document in rows_of(documents):
        metadata, dropped = row_metadata(document["metadata"])
        if dropped:
            message = f"Too large for a row, kept in the catalogue only: {', '.join(dropped)}."
            notices.append(
                warning(document["doc_id"], document["source"], "METADATA_SHORTENED", message)
            )
        rows += _chunks_of(workspace, document, metadata)
    return Chunked(CHUNKS.from_rows(rows), NOTICES.from_rows(notices))


def _chunks_of(
    workspace: Workspace, document: dict[str, Any], metadata: str
) -> list[dict[str, Any]]:
    chunks = workspace.chunker.chunk(
        document["text"], workspace.chunk_options, workspace.embedder.count_tokens
    )
    common = {
        **{name: document[name] for name in ("doc_id", "kb_scope", "source", "title", *NOBODY)},
        "category": shortened(document["category"], LABEL_BYTES),
        "metadata": metadata,
        "doc_version": 0,
    }
    return [
        {
            **common,
            "evidence_key": chunk_key(document["doc_id"], chunk.index),
            "chunk_index": chunk.index,
            "heading": (heading := shortened(chunk.heading, LABEL_BYTES)),
            "content": chunk.text,
            "content_sha256": text_sha256(chunk.text),
            "terms": row_terms(document["title"], heading, chunk.text),
            "char_start": chunk.start,
            "char_end": chunk.end,
            "tokens": chunk.tokens,
        }
        for chunk in chunks
    ]
