"""The values inside a frontmatter block, as JSON values that lose nothing of what was written."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from pincite.documents.model import JSON

TEXT_FIELDS = frozenset(
    {
        "aliases", "author", "categories", "category", "description", "doc_id", "id", "keywords",
        "kb_scope", "linktitle", "slug", "subtitle", "summary", "tags", "title", "url", "version",
    }
)  # fmt: skip

MAX_DEPTH = 100
# What aliases may add to a block, in nodes and characters together.
ALIAS_ALLOWANCE = 10_000

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_REFUSABLE = re.compile("[\0\ud800-\udfff]")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class BlockRefused(Exception):
    """The block is not a mapping that can be kept; the text says why."""


def read_yaml(block: str) -> tuple[dict[str, JSON], list[str]]:
    """The fields of a YAML block and the keys that it holds twice (the last one wins).

    PyYAML is used because it is the maintained binding of libyaml, which limits nesting and is
    ten times as fast as a parser in Python; only its node graph is taken, so that no tag ever
    makes an object and no YAML 1.1 rule ever retypes a value. A plain value becomes a number
    only where the number prints back the same (``1.10``, ``08``, ``0x1F`` and ``12:30:45`` stay
    text), ``true`` and ``false`` become booleans, and below a key of ``TEXT_FIELDS`` all stay
    text. Dates stay text as written. A merge key ``<<`` is a key like any other.

    Raises:
        BlockRefused: The block is not valid YAML, not a mapping, nested deeper than
            ``MAX_DEPTH``, or its aliases expand it by more than ``ALIAS_ALLOWANCE``.
    """
    import yaml

    try:
        node = yaml.compose(block, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as exc:
        raise BlockRefused(f"not valid YAML{_yaml_line(exc)}") from exc
    except RecursionError as exc:
        raise BlockRefused("nested too deeply") from exc
    if node is None:
        return {}, []
    if not isinstance(node, yaml.MappingNode):
        raise BlockRefused("not a mapping of keys to values")
    reader = _NodeReader(2 * len(block) + ALIAS_ALLOWANCE)
    return reader.mapping(node, False, 0), reader.duplicates


def read_toml(block: str) -> dict[str, JSON]:
    """The fields of a TOML block; dates and times become ISO text with their time zone.

    Raises:
        BlockRefused: The block is not valid TOML or nested deeper than ``MAX_DEPTH``.
    """
    try:
        table = tomllib.loads(block, parse_float=_FloatText)
    except ValueError as exc:
        raise BlockRefused("not valid TOML") from exc
    except RecursionError as exc:
        raise BlockRefused("nested too deeply") from exc
    return _table(table, False, 0)


def clean(text: str) -> str:
    """The text with U+FFFD in place of NUL and lone surrogates, which no store takes."""
    return _REFUSABLE.sub("\ufffd", text)


def _yaml_line(exc: Exception) -> str:
    mark = getattr(exc, "problem_mark", None)
    return f" (line {mark.line + 1} of the block)" if mark else ""


def _number(text: str) -> int | float | None:
    if _INTEGER.fullmatch(text):
        return int(text)
    try:
        value = float(text)
    except ValueError:
        return None
    # Also keeps nan and inf out, which JSON does not know.
    return value if repr(value) == text and text[-1].isdigit() else None


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise BlockRefused(f"nested deeper than {MAX_DEPTH} levels")


class _NodeReader:
    """Reads a node graph within a budget of nodes and characters."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self.duplicates: list[str] = []

    def mapping(self, node: Any, as_text: bool, depth: int) -> dict[str, JSON]:
        fields: dict[str, JSON] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node)
            if key in fields:
                self.duplicates.append(key)
            fields[key] = self._value(value_node, as_text or key.lower() in TEXT_FIELDS, depth + 1)
        return fields

    def _value(self, node: Any, as_text: bool, depth: int) -> JSON:
        _check_depth(depth)
        if node.id == "scalar":
            self._spend(1 + len(node.value))
            return _scalar(node, as_text)
        self._spend(1)
        if node.id == "sequence":
            return [self._value(item, as_text, depth + 1) for item in node.value]
        return self.mapping(node, as_text, depth)

    def _key(self, node: Any) -> str:
        if node.id != "scalar":
            raise BlockRefused("a key is not text")
        self._spend(1 + len(node.value))
        return clean(node.value)

    def _spend(self, amount: int) -> None:
        self._budget -= amount
        if self._budget < 0:
            raise BlockRefused("its aliases expand it too much")


def _scalar(node: Any, as_text: bool) -> JSON:
    text: str = node.value
    plain = not node.style and node.tag != "tag:yaml.org,2002:str"
    if not plain:
        return clean(text)
    if text in _NULLS:
        return None
    if as_text:
        return clean(text)
    if text in ("true", "false"):
        return text == "true"
    number = _number(text)
    return clean(text) if number is None else number


class _FloatText(str):
    """A TOML float as it was written."""


def _table(table: Mapping[str, Any], as_text: bool, depth: int) -> dict[str, JSON]:
    return {
        clean(key): _toml_value(value, as_text or key.lower() in TEXT_FIELDS, depth + 1)
        for key, value in table.items()
    }


def _toml_value(value: Any, as_text: bool, depth: int) -> JSON:
    _check_depth(depth)
    if isinstance(value, dict):
        return _table(value, as_text, depth)
    if isinstance(value, list):
        return [_toml_value(item, as_text, depth + 1) for item in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return _toml_scalar(value, as_text)


def _toml_scalar(value: str | int, as_text: bool) -> JSON:
    if isinstance(value, _FloatText):
        number = None if as_text else _number(value)
        return str(value) if number is None else number
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, bool):
        return str(value).lower() if as_text else value
    # JSON readers elsewhere hold integers as doubles or 64 bits.
    return str(value) if as_text or abs(value) >= 10**18 else value
