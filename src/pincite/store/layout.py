"""The columns of a collection, and what may be written to, filtered by and read from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from pincite.errors import FullTextUnsupported, StoreRejected
from pincite.store.filters import Comparison, Filter, JsonKey, comparisons, operands

VECTOR_ID = "vector_id"
_LONG = frozenset({"content", "terms"})


class Kind(StrEnum):
    """What a column holds."""

    TEXT = "text"
    INTEGER = "integer"
    JSON = "json"
    VECTOR = "vector"


# Kinds whose values are compared, as a whole or by a key inside.
_WHOLE = frozenset({Kind.TEXT, Kind.INTEGER})
_INSIDE = frozenset({Kind.JSON})


@dataclass(frozen=True)
class Column:
    """One column; ``limit`` is bytes for text and JSON, the dimension for a vector."""

    name: str
    kind: Kind
    limit: int = 0


@dataclass(frozen=True)
class FullText:
    """The column with the words of a row, and the field by which they are searched."""

    words: str
    field: str


@dataclass(frozen=True)
class Layout:
    """The columns of one collection, its key column, and the vector's metric and index.

    ``lists`` is into how many lists an inverted index parts the vectors, 0 where it is not said.
    """

    columns: tuple[Column, ...]
    key: str
    vector: str
    metric: str
    index: str
    text: FullText | None = None
    lists: int = 0

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

    def require_text(self) -> FullText:
        """How the collection is searched by words.

        Raises:
            FullTextUnsupported: It is not.
        """
        if self.text is None:
            raise FullTextUnsupported("The collection has no full-text index.")
        return self.text

    def check_filter(self, filter: Filter | None) -> None:
        """Refuse a filter on a column that is not there, or with a value of another kind.

        Stores differ in what they say to either, from an error to no row at all.
        """
        for comparison in comparisons(filter) if filter is not None else ():
            self._check_comparison(comparison)

    def _check_comparison(self, comparison: Comparison) -> None:
        column = comparison.column
        name = column.column if isinstance(column, JsonKey) else column
        kind = self.column(name).kind
        allowed = _INSIDE if isinstance(column, JsonKey) else _WHOLE
        if kind not in allowed:
            raise StoreRejected(f"Column {name!r} holds {kind} and is not compared like this.")
        expected = int if kind is Kind.INTEGER else str
        if not all(isinstance(value, expected) for value in operands(comparison)):
            raise StoreRejected(
                f"Column {name!r} holds {kind}, the filter compares it with "
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
    return pa.large_string() if column.name in _LONG else pa.string()
