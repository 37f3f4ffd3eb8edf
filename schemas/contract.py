"""What every table contract shares: fields with meaning, a key, and one gate, ``conform``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import pyarrow as pa

from pincite.errors import ContractViolation


def kind(type_: pa.DataType) -> str:
    """What sort of value a type holds, however it is laid out: ``text``, ``list of real``."""
    if pa.types.is_dictionary(type_):
        return kind(type_.value_type)
    if holds_items(type_):
        return f"list of {kind(type_.value_type)}"
    for name, is_member in _KINDS.items():
        if is_member(type_):
            return name
    return str(type_)


def holds_items(type_: pa.DataType) -> bool:
    """Whether values are lists, of a fixed size or not."""
    checks = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(check(type_) for check in checks)


def holds_nulls(column: pa.ChunkedArray) -> bool:
    """Whether a value, or an item of a list, is null."""
    if column.null_count:
        return True
    if not holds_items(column.type):
        return False
    return any(chunk.flatten().null_count for chunk in column.chunks)


def _array(values: list[Any], type_: pa.DataType) -> pa.Array:
    """The values as an array; refuses what Arrow would cut off or take apart in silence."""
    if pa.types.is_integer(type_):
        odd = [v for v in values if v is not None and not isinstance(v, Integral)]
    else:
        odd = [v for v in values if isinstance(v, str)] if holds_items(type_) else []
    if odd:
        raise TypeError(f"a {type(odd[0]).__name__} is no {type_}")
    return pa.array(values, type_)


_KINDS: dict[str, Callable[[pa.DataType], bool]] = {
    "text": lambda t: (
        pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t)
    ),
    "whole": pa.types.is_integer,
    "real": pa.types.is_floating,
}


@dataclass(frozen=True)
class Field:
    """One column: its Arrow type, whether nulls are allowed, and what a value means."""

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = False


@dataclass(frozen=True)
class Contract:
    """The contract of one table that passes between stages.

    ``conform`` is the only gate at a stage boundary; inside a stage, tables are trusted.
    """

    name: str
    version: int
    key: tuple[str, ...]
    fields: tuple[Field, ...]

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field(f.name, f.type, f.nullable) for f in self.fields])

    @cached_property
    def names(self) -> list[str]:
        return [f.name for f in self.fields]

    def empty(self) -> pa.Table:
        return self.schema.empty_table()

    def from_rows(self, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
        """A conformed table from dicts; every column must be present in every row."""
        rows = list(rows)
        try:
            columns = [_array([row[f.name] for row in rows], f.type) for f in self.fields]
        except (KeyError, ValueError, TypeError, OverflowError, NotImplementedError) as exc:
            raise ContractViolation(f"Rows do not fit table {self.name!r}: {exc}.") from exc
        return self.conform(pa.Table.from_arrays(columns, schema=self.schema))

    def conform(self, table: pa.Table) -> pa.Table:
        """The table with exactly this contract's columns, order and types.

        A cast changes how a value is laid out, never what it is: a float or an integer in a
        text column would make ids such as ``d#chunk-0.0``. Whether values make sense (NaN, an
        empty id) is for the expectations to say.

        Raises:
            ContractViolation: A column is missing or extra, has a type of another kind or one
                that does not cast without loss, or holds nulls where none are allowed.
        """
        self._require_columns(table.column_names)
        table = table.select(self.names)
        for field in self.fields:
            self._require_fit(field, table[field.name])
        if table.schema.equals(self.schema, check_metadata=True):
            return table
        try:
            return table.cast(self.schema)
        except (ValueError, TypeError, NotImplementedError) as exc:
            raise ContractViolation(f"Table {self.name!r} does not cast: {exc}.") from exc

    def _require_columns(self, names: list[str]) -> None:
        if sorted(names) == sorted(self.names):
            return
        missing = sorted(set(self.names) - set(names))
        extra = sorted(set(names) - set(self.names))
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ContractViolation(
            f"Table {self.name!r} has missing columns {missing}, unknown columns {extra} "
            f"and repeated columns {twice}."
        )

    def _require_fit(self, field: Field, column: pa.ChunkedArray) -> None:
        if len(column) and kind(column.type) != kind(field.type):
            raise ContractViolation(
                f"Column {self.name}.{field.name} is {column.type}, not {field.type}."
            )
        if not field.nullable and holds_nulls(column):
            raise ContractViolation(f"Column {self.name}.{field.name} holds nulls.")

    def render(self) -> str:
        """A stable text form, kept under test so that a change is a visible diff."""
        lines = [f"{self.name} v{self.version} key={','.join(self.key)}"]
        lines += [
            f"  {f.name}: {f.type}{' null' if f.nullable else ''}: {f.meaning}" for f in self.fields
        ]
        return "\n".join(lines)
