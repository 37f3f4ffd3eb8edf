"""Collections as other programs make them, written for tests by the Milvus client alone."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pincite.store.lite import open_lite
from pincite.store.milvus_connection import SCHEMES

if TYPE_CHECKING:
    from pymilvus import CollectionSchema, MilvusClient
    from pymilvus.milvus_client import IndexParams

TEXT_BYTES = 65_535
UUID_BYTES = 36


@dataclass(frozen=True)
class ForeignLayout:
    """Names of the columns, and the index that its program makes."""

    key: str
    vector: str
    index: str
    params: Mapping[str, int] = field(default_factory=dict)


# Spring AI's MilvusVectorStore with its defaults.
SPRING = ForeignLayout("doc_id", "embedding", "IVF_FLAT", {"nlist": 1024})
# What programs on the Milvus SDKs commonly make.
SDK = ForeignLayout("id", "vector", "HNSW", {"M": 16, "efConstruction": 200})
LAYOUTS = {"spring": SPRING, "sdk": SDK}


@dataclass(frozen=True)
class ForeignRow:
    """One row; without a key it gets a random UUID, as Spring AI gives it."""

    text: str
    vector: Sequence[float]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    key: str | int = field(default_factory=lambda: str(uuid.uuid4()))


def write_foreign(
    uri: str,
    layout: str,
    collection: str,
    rows: Sequence[ForeignRow],
    metric: str = "COSINE",
    flush: bool = False,
) -> None:
    """Make the collection in the layout, load it, and write the rows.

    Args:
        uri: A folder (Milvus Lite) or the address of a server.
        layout: ``spring`` or ``sdk``.
        collection: A name that is not taken.
        rows: At least one; their keys are all text or all integers.
        metric: ``COSINE``, ``IP`` or ``L2``.
        flush: Whether the rows are indexed afterwards, which takes seconds on a server.
    """
    from pymilvus import MilvusClient

    shape = LAYOUTS[layout]
    client = MilvusClient(uri if uri.startswith(SCHEMES) else open_lite(uri), dedicated=True)
    try:
        schema = _schema(shape, rows[0])
        client.create_collection(collection, schema=schema, consistency_level="Bounded")
        client.create_index(collection, _indexes(client, shape, metric), sync=False)
        client.load_collection(collection)
        client.insert(collection, [_row(shape, row) for row in rows])
        if flush:
            client.flush(collection)
    finally:
        client.close()


def _schema(shape: ForeignLayout, row: ForeignRow) -> CollectionSchema:
    from pymilvus import DataType, MilvusClient

    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    if isinstance(row.key, int):
        schema.add_field(shape.key, DataType.INT64, is_primary=True)
    else:
        schema.add_field(shape.key, DataType.VARCHAR, is_primary=True, max_length=UUID_BYTES)
    schema.add_field("content", DataType.VARCHAR, max_length=TEXT_BYTES)
    schema.add_field("metadata", DataType.JSON)
    schema.add_field(shape.vector, DataType.FLOAT_VECTOR, dim=len(row.vector))
    return schema


def _indexes(client: MilvusClient, shape: ForeignLayout, metric: str) -> IndexParams:
    indexes = client.prepare_index_params()
    indexes.add_index(
        shape.vector, index_type=shape.index, metric_type=metric, params=dict(shape.params)
    )
    return indexes


def _row(shape: ForeignLayout, row: ForeignRow) -> dict[str, Any]:
    return {
        shape.key: row.key,
        "content": row.text,
        "metadata": dict(row.metadata),
        shape.vector: list(row.vector),
    }
