"""Embed: a vector for every chunk."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from pincite.embedding.port import Vectors
from pincite.errors import PinciteError
from pincite.schemas.notices import NOTICES, failure, warning
from pincite.schemas.rows import rows_contract
from pincite.wiring import current_workspace
from pincite.writing.tables import Cost, Embedded, without
from pincite.writing.target import Target

CACHE_OUT_OF_ORDER = "The embedding cache is out of order; texts are embedded again."


async def embed(target: Target, chunks: pa.Table) -> Embedded:
    """Rows with vectors; a document with one refused chunk fails whole."""
    workspace = current_workspace()
    found = await workspace.passages.embed_passages(
        chunks["content"].to_pylist(),
        tokens=chunks["tokens"].to_pylist(),
        progress=lambda done: workspace.report("embedded", done),
    )
    ids = chunks["doc_id"].to_pylist()
    notices = list(_rejections(chunks, found.rejected).values())
    if found.degradation is not None:
        notices.append(warning("", "", found.degradation.upper(), CACHE_OUT_OF_ORDER))
    rows = _with_vectors(chunks, found.vectors, target.recipe.dim)
    return Embedded(
        without(rows, {ids[at] for at in found.rejected}),
        NOTICES.from_rows(notices),
        Cost(found.computed, found.cached, found.tokens),
    )


def _rejections(
    chunks: pa.Table, rejected: Mapping[int, PinciteError]
) -> dict[str, dict[str, str]]:
    """One failure per document, naming its first refused chunk."""
    found: dict[str, dict[str, str]] = {}
    for at, error in sorted(rejected.items()):
        row = {name: chunks[name][at].as_py() for name in ("doc_id", "source", "evidence_key")}
        message = f"{row['evidence_key']!r}: {error.message}"
        named = type(error)(message, error.next_step)
        found.setdefault(row["doc_id"], failure(row["doc_id"], row["source"], named))
    return found


def _with_vectors(chunks: pa.Table, vectors: Vectors, dim: int) -> pa.Table:
    flat = pa.array(vectors.reshape(-1), pa.float32())
    table = chunks.append_column("embedding", pa.FixedSizeListArray.from_arrays(flat, dim))
    table = table.append_column("vector_id", chunks["evidence_key"])
    return rows_contract(dim).conform(table)
