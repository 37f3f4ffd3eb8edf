"""From what a store returns to Arrow tables, similarities and layouts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pincite.errors import StoreRejected
from pincite.store.layout import Column, Kind, Layout
from pincite.store.port import Hit


def to_table(layout: Layout, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The rows with ``vector_id`` and ``columns``, keys ascending."""
    rows = sorted(rows, key=lambda row: str(row[layout.key]))
    schema = layout.schema(columns)
    arrays = [pa.array(_values(layout.column(field.name), rows), field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _values(column: Column, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [plain(column, row[column.name]) for row in rows]


def plain(column: Column, value: Any) -> Any:
    """A value as tables hold it: JSON as text in one canonical form, the rest as it is."""
    if column.kind is Kind.JSON and not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return value


def to_hits(layout: Layout, columns: Sequence[str], found: Any) -> list[Hit]:
    """Hits from one query's result, similarity descending, then key ascending."""
    wanted = [(name, layout.column(name)) for name in columns]
    hits = [
        _hit(layout, wanted, str(key), float(raw), entry["entity"])
        for key, raw, entry in zip(found.ids, found.distances, found, strict=True)
    ]
    return in_order(hits)


def _hit(
    layout: Layout,
    wanted: Sequence[tuple[str, Column]],
    key: str,
    raw: float,
    entity: Mapping[str, Any],
) -> Hit:
    values = {
        name: key if column.name == layout.key else plain(column, entity[column.name])
        for name, column in wanted
    }
    return Hit(key, similarity(layout.metric, raw), raw, values)


def in_order(hits: list[Hit]) -> list[Hit]:
    """The order of a search: similarity descending, then key ascending."""
    return sorted(hits, key=lambda hit: (-hit.similarity, hit.vector_id))


def similarity(metric: str, raw: float) -> float:
    """Cosine in [-1, 1], higher is better, from a store's raw score.

    ``IP`` and ``L2`` (squared distance) hold for vectors of length 1; rounding may leave the
    range by a few units in the last place and is cut.
    """
    if metric in ("COSINE", "IP"):
        value = raw
    elif metric == "L2":
        value = 1.0 - raw / 2.0
    else:
        raise StoreRejected(
            f"The vectors are compared by {metric!r}, which gives no cosine.",
            "Use a collection with COSINE, IP or L2.",
        )
    return min(1.0, max(-1.0, value))


def to_layout(description: Mapping[str, Any], index: Mapping[str, Any]) -> Layout:
    """The layout of a collection from its description and its vector index.

    Raises:
        StoreRejected: It has no text key or no single vector column.
    """
    fields = description["fields"]
    keys = [field["name"] for field in fields if field.get("is_primary")]
    columns = tuple(column for field in fields if (column := _column(field)) is not None)
    vector = [column.name for column in columns if column.kind is Kind.VECTOR]
    name = description.get("collection_name")
    if len(keys) != 1 or len(vector) != 1:
        raise StoreRejected(f"Collection {name!r} has keys {keys} and vectors {vector}.")
    metric, kind = str(index.get("metric_type", "")), str(index.get("index_type", ""))
    return Layout(columns, keys[0], vector[0], metric, kind)


def _column(field: Mapping[str, Any]) -> Column | None:
    from pymilvus import DataType

    params = field.get("params", {})
    name = str(field["name"])
    if field["type"] == DataType.VARCHAR:
        return Column(name, Kind.TEXT, int(params["max_length"]))
    if field["type"] in (DataType.INT64, DataType.INT32):
        return Column(name, Kind.INTEGER)
    if field["type"] == DataType.JSON:
        return Column(name, Kind.JSON, 65_535)
    if field["type"] == DataType.FLOAT_VECTOR:
        return Column(name, Kind.VECTOR, int(params["dim"]))
    return None
