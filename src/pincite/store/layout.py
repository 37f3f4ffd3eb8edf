"""The columns of a collection, and what may be written to, filtered by and read from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from pincite.errors import StoreRejected
from pincite.store.filters import Filter, comparisons, operands

VECTOR_ID = "vector_id"


class Kind(StrEnum):
    """What a column holds."""

    TEXT = "text"
    INTEGER = "integer"
    JSON = "json"
    VECTOR = "vector"


@dataclass(frozen=True)
class Column:
    """One column; ``limit`` is bytes for text and JSON, the dimension for a vector."""

    name: str
    kind: Kind
    limit: int = 0


@dataclass(frozen=True)
class Layout:
    """The columns of one collection, its key column, and the vector's metric and index."""

    columns: tuple[Column, ...]
    key: str
    vector: str
    metric: str
    index: str

    def column(self, name: str) -> Column:
        """The column of this name; ``vector_id`` is the key.

        Raises:
            StoreRejected: There is none.
        """
        wanted = self.key if name == VECTOR_ID else name
        for column in self.columns:
            if column.name == wanted:
                return column
        raise StoreRejected(
            f"The collection has no column {name!r}.",
            f"Ask for one of {[column.name for column in self.columns]}.",
        )

    @property
    def dim(self) -> int:
        return self.column(self.vector).limit

    def check_filter(self, filter: Filter | None) -> None:
        """Refuse a filter on a column that is not there, or with a value of another kind.

        Stores differ in what they say to either, from an error to no row at all.
        """
        for comparison in comparisons(filter) if filter is not None else ():
            kind = self.column(comparison.column).kind
            if kind not in (Kind.TEXT, Kind.INTEGER):
                raise StoreRejected(f"Column {comparison.column!r} holds {kind} and has no order.")
            expected = str if kind is Kind.TEXT else int
            if not all(isinstance(value, expected) for value in operands(comparison)):
                raise StoreRejected(
                    f"Column {comparison.column!r} holds {kind}, the filter compares it with "
                    f"{operands(comparison)!r}."
                )

    def schema(self, names: Iterable[str]) -> pa.Schema:
        """The Arrow schema of a read: ``vector_id`` first, then the named columns."""
        fields = [(VECTOR_ID, pa.string())]
        fields += [(name, _arrow_type(self.column(name))) for name in names if name != VECTOR_ID]
        return pa.schema(fields)


def _arrow_type(column: Column) -> pa.DataType:
    if column.kind is Kind.INTEGER:
        return pa.int64()
    if column.kind is Kind.VECTOR:
        return pa.list_(pa.float32(), column.limit)
    return pa.large_string() if column.name == "content" else pa.string()
