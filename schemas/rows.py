"""Rows as they enter the store: chunks with their vector."""

import pyarrow as pa

from pincite.schemas.chunks import CHUNKS
from pincite.schemas.contract import Contract, Field


def rows_contract(dim: int) -> Contract:
    """The contract of store rows with vectors of ``dim`` float32 values."""
    return Contract(
        name="rows",
        version=3,
        key=("vector_id",),
        fields=(
            Field("vector_id", pa.string(), "the store's primary key; equals evidence_key"),
            *CHUNKS.fields,
            Field("embedding", pa.list_(pa.float32(), dim), "vector, finite and not zero"),
        ),
    )
