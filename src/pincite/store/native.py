"""The native row layout: one row is one chunk, keyed by its evidence key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pincite.store.layout import Column, Kind, Layout
from pincite.store.port import Capabilities, CollectionSpec

if TYPE_CHECKING:
    from pymilvus import CollectionSchema
    from pymilvus.milvus_client import IndexParams

KEY = "chunk_id"
VECTOR = "embedding"
SPARSE = "sparse"
METRIC = "COSINE"
ANALYZER = {"tokenizer": "jieba"}

# The server's own ceilings: a VARCHAR and a JSON value each hold at most this many bytes.
CONTENT_BYTES = 65_535
METADATA_BYTES = 65_535
SCOPE_BYTES = 256
DOC_ID_BYTES = 4_096
# The key adds "#chunk-" and the digits of a 64-bit integer.
KEY_BYTES = DOC_ID_BYTES + 32
TEXT_BYTES = 8_192

_COLUMNS = (
    Column(KEY, Kind.TEXT, KEY_BYTES),
    Column("doc_id", Kind.TEXT, DOC_ID_BYTES),
    Column("doc_version", Kind.INTEGER),
    Column("chunk_index", Kind.INTEGER),
    Column("kb_scope", Kind.TEXT, SCOPE_BYTES),
    Column("category", Kind.TEXT, TEXT_BYTES),
    Column("source", Kind.TEXT, TEXT_BYTES),
    Column("title", Kind.TEXT, TEXT_BYTES),
    Column("heading", Kind.TEXT, TEXT_BYTES),
    Column("content", Kind.TEXT, CONTENT_BYTES),
    Column("content_sha256", Kind.TEXT, 64),
    Column("char_start", Kind.INTEGER),
    Column("char_end", Kind.INTEGER),
    Column("expires_at", Kind.INTEGER),
)
NATIVE_NAMES = frozenset(column.name for column in _COLUMNS) | {"metadata", VECTOR}


def native_layout(spec: CollectionSpec) -> Layout:
    """The columns of a collection of this shape; no column is nullable."""
    columns = (
        *_COLUMNS,
        *(Column(name, Kind.TEXT, SCOPE_BYTES) for name in spec.scope_columns),
        Column("metadata", Kind.JSON, METADATA_BYTES),
        Column(VECTOR, Kind.VECTOR, spec.dim),
    )
    return Layout(columns, KEY, VECTOR, METRIC, "HNSW")


def milvus_schema(spec: CollectionSpec, capabilities: Capabilities) -> CollectionSchema:
    """The Milvus schema, with the BM25 field where it is asked for and the store can."""
    from pymilvus import DataType, Function, FunctionType, MilvusClient

    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    lexical = with_full_text(spec, capabilities)
    for column in native_layout(spec).columns:
        schema.add_field(column.name, **_field(column, lexical))
    if lexical:
        schema.add_field(SPARSE, DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(Function("bm25", FunctionType.BM25, ["content"], [SPARSE]))
    return schema


def milvus_indexes(spec: CollectionSpec, capabilities: Capabilities) -> IndexParams:
    """HNSW on the vector, and on ``doc_id`` the index that helps there.

    On Milvus Lite it makes a read of one document 1.6 times faster at 20,000 flushed rows; on
    server 2.3.5 it made no difference.
    """
    from pymilvus import MilvusClient

    params = MilvusClient.prepare_index_params()
    build = {"M": 16, "efConstruction": 200}
    params.add_index(VECTOR, index_type="HNSW", metric_type=METRIC, params=build)
    if capabilities.scalar_index:
        params.add_index("doc_id", index_type=capabilities.scalar_index)
    if with_full_text(spec, capabilities):
        params.add_index(SPARSE, index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
    return params


def with_full_text(spec: CollectionSpec, capabilities: Capabilities) -> bool:
    """Whether the collection gets a BM25 field; without it only the dense leg can search."""
    return spec.full_text and capabilities.full_text


def _field(column: Column, lexical: bool) -> dict[str, Any]:
    from pymilvus import DataType

    if column.kind is Kind.INTEGER:
        return {"datatype": DataType.INT64}
    if column.kind is Kind.JSON:
        return {"datatype": DataType.JSON}
    if column.kind is Kind.VECTOR:
        return {"datatype": DataType.FLOAT_VECTOR, "dim": column.limit}
    field = {"datatype": DataType.VARCHAR, "max_length": column.limit}
    if column.name == KEY:
        field["is_primary"] = True
    if lexical and column.name == "content":
        field |= {"enable_analyzer": True, "analyzer_params": ANALYZER}
    return field
