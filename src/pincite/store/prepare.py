"""From a table of rows to the columns of a layout, refusing what stores would treat unequally."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pincite.errors import StoreRejected
from pincite.schemas.owner import NOBODY
from pincite.store.layout import VECTOR_ID, Column, Kind, Layout

# Columns of the rows table that may have no place in a collection: the key says the first two,
# the ledger has the third, and the words are for stores with full text.
_NOT_STORED = frozenset({VECTOR_ID, "evidence_key", "tokens", "terms"})


class OverLimit(NamedTuple):
    """A value that is too long for its column; sizes in UTF-8 bytes."""

    key: str
    column: str
    size: int
    limit: int


def over_limits(layout: Layout, rows: pa.Table) -> list[OverLimit]:
    """Every value that exceeds its column's byte limit, column by column.

    Bytes count on every store: Milvus Lite alone would count characters, and a row that fits
    there would fail on a server.
    """
    found: list[OverLimit] = []
    for column in layout.columns:
        if column.kind in (Kind.TEXT, Kind.JSON) and _source(layout, column) in rows.column_names:
            found.extend(_too_long(layout, column, rows))
    return found


def _too_long(layout: Layout, column: Column, rows: pa.Table) -> Iterator[OverLimit]:
    sizes = pc.binary_length(rows[_source(layout, column)])
    if (pc.max(sizes).as_py() or 0) <= column.limit:
        return
    for row in np.flatnonzero(sizes.to_numpy() > column.limit):
        key = rows[VECTOR_ID][int(row)].as_py()
        yield OverLimit(key, column.name, sizes[int(row)].as_py(), column.limit)


def check_rows(layout: Layout, rows: pa.Table) -> None:
    """Refuse rows that the layout cannot hold or that stores would treat unequally.

    Raises:
        StoreRejected: Unknown or missing columns, nulls, a key twice (stores keep the first or
            the last), a value over its byte limit, metadata that is no JSON, or a vector of
            another dimension or with a value that is not finite.
    """
    _check_columns(layout, rows)
    _check_keys(rows)
    for over in over_limits(layout, rows)[:1]:
        raise StoreRejected(
            f"Column {over.column!r} of {over.key!r} has {over.size} bytes, the limit is "
            f"{over.limit}.",
            "Shorten the value; text is counted in UTF-8 bytes.",
        )
    for column in layout.columns:
        if column.kind is Kind.JSON:
            _check_json(rows, column.name)
    _check_vectors(layout, rows)


def column_values(layout: Layout, column: Column, rows: pa.Table) -> list[Any]:
    """One scalar column as Python values, its default where the table does not bring it."""
    source = _source(layout, column)
    if source in rows.column_names:
        values: list[Any] = rows[source].to_pylist()
        return values
    return [NOBODY.get(column.name, "")] * rows.num_rows


def vectors(layout: Layout, rows: pa.Table) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The vectors as ``(n, dim) float32``, C order."""
    flat = rows[layout.vector].combine_chunks()
    if isinstance(flat, pa.ChunkedArray):
        flat = pa.concat_arrays(flat.chunks)
    values = np.asarray(flat.flatten(), dtype=np.float32)
    return np.ascontiguousarray(values.reshape(rows.num_rows, layout.dim))


def row_sizes(rows: pa.Table) -> np.ndarray[Any, np.dtype[np.int64]]:
    """About how many bytes each row takes on the wire, ``(n,) int64``."""
    total = np.full(rows.num_rows, 256, dtype=np.int64)
    for field in rows.schema:
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            total += pc.binary_length(rows[field.name]).to_numpy().astype(np.int64)
        elif pa.types.is_fixed_size_list(field.type):
            total += 4 * field.type.list_size
    return total


def _source(layout: Layout, column: Column) -> str:
    return VECTOR_ID if column.name == layout.key else column.name


def _check_columns(layout: Layout, rows: pa.Table) -> None:
    known = {column.name for column in layout.columns}
    given = set(rows.column_names)
    # A collection without a column for it would forget whose a row is, or when it expires.
    nobodys = {
        name
        for name, nothing in NOBODY.items()
        if name in given and pc.all(pc.equal(rows[name], nothing)).as_py() is not False
    }
    unknown = given - known - _NOT_STORED - nobodys
    missing = known - given - set(NOBODY) - {layout.key} | {VECTOR_ID} - given
    if unknown or missing:
        raise StoreRejected(
            f"Rows do not fit the collection: unknown columns {sorted(unknown)}, missing "
            f"{sorted(missing)}."
        )
    nulls = sorted(name for name in given if rows[name].null_count)
    if nulls:
        raise StoreRejected(f"Columns {nulls} hold nulls; no column of a collection may.")


def _check_keys(rows: pa.Table) -> None:
    keys = rows[VECTOR_ID]
    if len(pc.unique(keys)) == len(keys):
        return
    counts = pc.value_counts(keys).to_pylist()
    twice = sorted(entry["values"] for entry in counts if entry["counts"] > 1)
    raise StoreRejected(f"The keys {twice[:3]} come more than once in one upsert.")


def _check_json(rows: pa.Table, name: str) -> None:
    for text in pc.unique(rows[name]).to_pylist():
        try:
            json.loads(text, parse_constant=_refuse_constant)
        except ValueError as exc:
            row = pc.index(rows[name], text).as_py()
            key = rows[VECTOR_ID][row].as_py()
            raise StoreRejected(f"Column {name!r} of {key!r} holds no valid JSON.") from exc


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _check_vectors(layout: Layout, rows: pa.Table) -> None:
    kind = rows.schema.field(layout.vector).type
    if not pa.types.is_fixed_size_list(kind) or kind.list_size != layout.dim:
        raise StoreRejected(
            f"Vectors are {kind}, the collection holds {layout.dim} values of float32."
        )
    bad = np.flatnonzero(~np.isfinite(vectors(layout, rows)).all(axis=1))
    if bad.size:
        key = rows[VECTOR_ID][int(bad[0])].as_py()
        raise StoreRejected(f"The vector of {key!r} has a value that is not finite.")
