"""Filter expressions as data, and the one function that escapes what enters them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pincite.errors import RequestInvalid

INT64_MAX = 2**63 - 1
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


@dataclass(frozen=True)
class JsonKey:
    """A key of a JSON column; what stands under it is compared as text, all else is no value.

    Stores differ on numbers: Milvus Lite takes ``true`` for 1. A server looks for a key as it is
    written: one that JSON must escape is refused, one that its writer escaped is not found.
    """

    column: str
    key: str

    def __post_init__(self) -> None:
        _check_name(self.column)
        if not self.key.isprintable() or not self.key:
            raise RequestInvalid(f"A filter names the key {self.key!r} of {self.column!r}.")

    def __str__(self) -> str:
        return f"{self.column}[{literal(self.key)}]"


@dataclass(frozen=True)
class _Single:
    column: str | JsonKey
    value: str | int

    def __post_init__(self) -> None:
        _check(self.column, (self.value,))


class Eq(_Single):
    """``column == value``."""


class Ne(_Single):
    """``column != value``; a row without the value passes."""


class Greater(_Single):
    """``column > value``; text compares by Unicode code points."""


class Less(_Single):
    """``column < value``, integers only."""


@dataclass(frozen=True)
class _Several:
    column: str | JsonKey
    values: tuple[str, ...] | tuple[int, ...]

    def __post_init__(self) -> None:
        _check(self.column, self.values)


class In(_Several):
    """``column`` is one of ``values``; no value means no row."""


class NotIn(_Several):
    """``column`` is none of ``values``; a row without the value passes."""


@dataclass(frozen=True)
class Exists:
    """The JSON column has the key; what ``null`` counts as is up to the store."""

    column: JsonKey


@dataclass(frozen=True)
class Missing:
    """The JSON column lacks the key; what ``null`` counts as is up to the store."""

    column: JsonKey


@dataclass(frozen=True)
class And:
    """Every part holds; no part means every row."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True)
class Or:
    """Some part holds; no part means no row."""

    parts: tuple[Filter, ...]


Comparison = Eq | Ne | In | NotIn | Less | Greater | Exists | Missing
Filter = Comparison | And | Or

_OPERATORS: dict[type, str] = {
    Eq: "==", Ne: "!=", In: "in", NotIn: "not in", Less: "<", Greater: ">",
}  # fmt: skip
_HOLDS: dict[type, Callable[[Any, Any], bool]] = {
    Eq: lambda value, wanted: bool(value == wanted),
    Ne: lambda value, wanted: bool(value != wanted),
    In: lambda value, wanted: value in wanted,
    NotIn: lambda value, wanted: value not in wanted,
    Less: lambda value, wanted: value is not None and bool(value < wanted),
    Greater: lambda value, wanted: value is not None and bool(value > wanted),
}


def all_of(parts: Sequence[Filter | None]) -> Filter | None:
    """The conjunction of the given parts, ``None`` when there is none."""
    given = tuple(part for part in parts if part is not None)
    if len(given) > 1:
        return And(given)
    return given[0] if given else None


def comparisons(filter: Filter) -> Iterator[Comparison]:
    """Every comparison in the filter, from left to right."""
    if isinstance(filter, And | Or):
        for part in filter.parts:
            yield from comparisons(part)
    else:
        yield filter


def operands(comparison: Comparison) -> tuple[str | int, ...]:
    """The values that a comparison holds its column against."""
    if isinstance(comparison, Exists | Missing):
        return ()
    return comparison.values if isinstance(comparison, In | NotIn) else (comparison.value,)


def folded(filter: Filter | None) -> Filter | bool:
    """The filter without its empty parts: ``True`` is every row, ``False`` is no row.

    What remains has an expression that every store accepts.
    """
    if filter is None:
        return True
    if isinstance(filter, In | NotIn) and not filter.values:
        return isinstance(filter, NotIn)
    if not isinstance(filter, And | Or):
        return filter
    neutral = isinstance(filter, And)
    parts = [folded(part) for part in filter.parts]
    if (not neutral) in parts:
        return not neutral
    rest = tuple(part for part in parts if not isinstance(part, bool))
    if len(rest) < 2:
        return rest[0] if rest else neutral
    return type(filter)(rest)


def render(filter: Filter) -> str:
    """The filter as a Milvus expression; an empty ``And`` or ``Or`` has none: fold it first."""
    if isinstance(filter, And | Or):
        if not filter.parts:
            raise ValueError(f"{filter!r} has no expression.")
        word = " and " if isinstance(filter, And) else " or "
        return word.join(f"({render(part)})" for part in filter.parts)
    if isinstance(filter, Exists | Missing):
        return f"{'not ' if isinstance(filter, Missing) else ''}exists {filter.column}"
    if isinstance(filter.column, JsonKey):
        return _render_json(filter, filter.column)
    many = isinstance(filter, In | NotIn)
    literals = ", ".join(literal(value) for value in operands(filter))
    return f"{filter.column} {_OPERATORS[type(filter)]} {f'[{literals}]' if many else literals}"


def _render_json(filter: Comparison, key: JsonKey) -> str:
    """Chains in place of ``in``, which Milvus Lite has not; a missing key is asked for.

    Milvus Lite drops a row without the key from ``!=``, server 2.3.5 keeps it.
    """
    negative = isinstance(filter, Ne | NotIn)
    operator = "!=" if negative else "==" if isinstance(filter, In) else _OPERATORS[type(filter)]
    parts = [f"{key} {operator} {literal(value)}" for value in operands(filter)]
    if len(parts) > 1:
        parts = [(" and " if negative else " or ").join(f"({part})" for part in parts)]
    return f"(not exists {key}) or ({parts[0]})" if negative else parts[0]


def literal(value: str | int) -> str:
    """A value as it may stand in an expression: the only place where escaping happens."""
    return str(value) if isinstance(value, int) else f'"{value.translate(_ESCAPES)}"'


def matches(filter: Filter, row: Mapping[str, Any]) -> bool:
    """Whether the row passes; the meaning that every store's expression must agree with.

    A JSON column is a mapping or its text; ``null`` counts as a missing key.
    """
    if isinstance(filter, And):
        return all(matches(part, row) for part in filter.parts)
    if isinstance(filter, Or):
        return any(matches(part, row) for part in filter.parts)
    if isinstance(filter, Exists | Missing):
        return (_under(filter.column, row) is None) is isinstance(filter, Missing)
    wanted = filter.values if isinstance(filter, In | NotIn) else filter.value
    return _HOLDS[type(filter)](_value(filter.column, row), wanted)


def _value(column: str | JsonKey, row: Mapping[str, Any]) -> Any:
    if isinstance(column, str):
        return row.get(column)
    value = _under(column, row)
    return value if isinstance(value, str) else None


def _under(key: JsonKey, row: Mapping[str, Any]) -> Any:
    held = row.get(key.column)
    values = json.loads(held) if isinstance(held, str) else held
    return values.get(key.key) if isinstance(values, Mapping) else None


def _check_name(column: str) -> None:
    if not _IDENTIFIER.match(column):
        raise RequestInvalid(f"A filter names the column {column!r}, which is no identifier.")


def _check(column: str | JsonKey, values: Sequence[str | int]) -> None:
    if isinstance(column, str):
        _check_name(column)
    for value in values:
        if not _fits(value) or (isinstance(column, JsonKey) and not isinstance(value, str)):
            raise RequestInvalid(
                f"A filter compares {str(column)!r} with {value!r}.",
                "Compare with text that UTF-8 can encode or, in a column, with a 64-bit integer.",
            )


def _fits(value: object) -> bool:
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= INT64_MAX
