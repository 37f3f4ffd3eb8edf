"""From what a store returns to Arrow tables, hits and layouts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pincite.errors import StoreRejected
from pincite.store.layout import Column, FullText, Kind, Layout
from pincite.store.port import Hit

# A cosine may leave its range by this much without meaning anything.
ROUNDING = 1e-4


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
    """Hits from the result of one query by vector, similarity descending, then key ascending."""
    hits = [
        Hit(key, similarity(layout.metric, raw), None, raw, values)
        for key, raw, values in _entries(layout, columns, found)
    ]
    return sorted(hits, key=lambda hit: nearness(layout.metric, hit))


def nearness(metric: str, hit: Hit) -> tuple[float, float, str]:
    """The sort key of a search by vector: similarity descending, then key ascending.

    Of vectors that are not of length 1 the store's own order counts where the range was cut.
    """
    shown = similarity(metric, hit.raw_score)
    beyond = _unbounded(metric, hit.raw_score) - shown
    return -shown, -beyond if abs(beyond) > ROUNDING else 0.0, hit.vector_id


def to_text_hits(layout: Layout, columns: Sequence[str], found: Any) -> list[Hit]:
    """Hits from the result of one query by words, score descending, then key ascending.

    Milvus Lite gives scores a minus sign, and may fill up a result with rows that score 0.
    """
    hits = [
        Hit(key, None, abs(raw), raw, values)
        for key, raw, values in _entries(layout, columns, found)
        if raw
    ]
    return by_score(hits)


def by_score(hits: Iterable[Hit]) -> list[Hit]:
    """The order of a search by words: score descending, then key ascending."""
    return sorted(hits, key=lambda hit: (-(hit.lexical or 0.0), hit.vector_id))


def _entries(
    layout: Layout, columns: Sequence[str], found: Any
) -> Iterator[tuple[str, float, dict[str, Any]]]:
    wanted = [(name, layout.column(name)) for name in columns]
    for key, raw, entry in zip(found.ids, found.distances, found, strict=True):
        values = {
            name: str(key)
            if column.name == layout.key
            else plain(column, entry["entity"][column.name])
            for name, column in wanted
        }
        yield str(key), float(raw), values


def similarity(metric: str, raw: float) -> float:
    """Cosine in [-1, 1], higher is better, from a store's raw score.

    ``IP`` and ``L2`` (squared distance) hold for vectors of length 1; rounding may leave the
    range by a few units in the last place and is cut.
    """
    return min(1.0, max(-1.0, _unbounded(metric, raw)))


def _unbounded(metric: str, raw: float) -> float:
    if metric in ("COSINE", "IP"):
        return raw
    if metric == "L2":
        return 1.0 - raw / 2.0
    raise StoreRejected(
        f"The vectors are compared by {metric!r}, which gives no cosine.",
        "Use a collection with COSINE, IP or L2.",
    )


def to_layout(description: Mapping[str, Any], index: Mapping[str, Any]) -> Layout:
    """The layout of a collection from its description and its vector index.

    Raises:
        StoreRejected: It has no single key or no single vector column.
    """
    fields = description["fields"]
    keys = [field["name"] for field in fields if field.get("is_primary")]
    columns = tuple(column for field in fields if (column := _column(field)) is not None)
    vector = [column.name for column in columns if column.kind is Kind.VECTOR]
    name = description.get("collection_name")
    if len(keys) != 1 or len(vector) != 1:
        raise StoreRejected(f"Collection {name!r} has keys {keys} and vectors {vector}.")
    metric, kind = str(index.get("metric_type", "")), str(index.get("index_type", ""))
    text, lists = _full_text(description), int(index.get("nlist", 0))
    return Layout(columns, keys[0], vector[0], metric, kind, text, lists)


def _full_text(description: Mapping[str, Any]) -> FullText | None:
    """The first BM25 function of the collection; stores before full text describe none."""
    from pymilvus import FunctionType

    for function in description.get("functions") or ():
        if function["type"] == FunctionType.BM25:
            return FullText(function["input_field_names"][0], function["output_field_names"][0])
    return None


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
