"""Embed: a vector for every chunk."""

from __future__ import annotations

import pyarrow as pa

from pincite.embedding.port import Vectors
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
    ids, sources = chunks["doc_id"].to_pylist(), chunks["source"].to_pylist()
    notices = [failure(ids[at], sources[at], error) for at, error in found.rejected.items()]
    if found.degradation is not None:
        notices.append(warning("", "", found.degradation.upper(), CACHE_OUT_OF_ORDER))
    rows = _with_vectors(chunks, found.vectors, target.recipe.dim)
    return Embedded(
        without(rows, {ids[at] for at in found.rejected}),
        NOTICES.from_rows(notices),
        Cost(found.computed, found.cached, found.tokens),
    )


def _with_vectors(chunks: pa.Table, vectors: Vectors, dim: int) -> pa.Table:
    flat = pa.array(vectors.reshape(-1), pa.float32())
    table = chunks.append_column("embedding", pa.FixedSizeListArray.from_arrays(flat, dim))
    table = table.append_column("vector_id", chunks["evidence_key"])
    return rows_contract(dim).conform(table)
