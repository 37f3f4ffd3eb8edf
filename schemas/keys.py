"""Rows of the store by key: what a read-back finds too much."""

import pyarrow as pa

from pincite.schemas.contract import Contract, Field

KEYS = Contract(
    name="keys",
    version=1,
    key=("vector_id",),
    fields=(
        Field("vector_id", pa.string(), "the store's primary key"),
        Field("doc_id", pa.string(), "document of the row"),
    ),
)
