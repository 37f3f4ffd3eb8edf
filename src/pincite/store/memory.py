"""An in-memory store: exact search, the same refusals as Milvus, nothing kept after the process."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from pincite.errors import CollectionConflict, RequestInvalid, StoreRejected
from pincite.store.bm25 import scores
from pincite.store.capabilities import MEMORY, MEMORY_DENSE
from pincite.store.filters import Filter, matches
from pincite.store.layout import Kind, Layout
from pincite.store.milvus_requests import (
    check_limit,
    field_names,
    page_rows,
    search_arguments,
)
from pincite.store.native import native_layout
from pincite.store.port import Capabilities, CollectionSpec, Hit, TextQuery, VectorQuery
from pincite.store.prepare import check_rows, column_values, vectors
from pincite.store.reading import by_score, nearness, plain, similarity, to_table

Row = dict[str, Any]


@dataclass
class _Collection:
    layout: Layout
    rows: dict[str, Row] = field(default_factory=dict)
    # How often each row has each of its words.
    words: dict[str, Counter[str]] = field(default_factory=dict)

    def put(self, row: Row) -> None:
        key = row[self.layout.key]
        self.rows[key] = row
        if self.layout.text is not None:
            self.words[key] = Counter(row[self.layout.text.words].split())

    def remove(self, key: str) -> None:
        self.rows.pop(key, None)
        self.words.pop(key, None)

    def matching(self, filter: Filter | None) -> list[Row]:
        rows = list(self.rows.values())
        return rows if filter is None else [row for row in rows if matches(filter, row)]


class MemoryStore:
    """``VectorStore`` and ``GenerationStore`` in this process's memory; brute force by numpy.

    Args:
        full_text: Whether it can search by words; an old server cannot.
    """

    def __init__(self, full_text: bool = True) -> None:
        self._capabilities = MEMORY if full_text else MEMORY_DENSE
        self._collections: dict[str, _Collection] = {}
        self._aliases: dict[str, str] = {}

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    async def upsert(self, collection: str, rows: pa.Table, timeout_s: float | None = None) -> int:
        """Write the rows; returns how many."""
        if not rows.num_rows:
            return 0
        held = self._held(collection)
        check_rows(held.layout, rows)
        for row in _to_rows(held.layout, rows):
            held.put(row)
        return int(rows.num_rows)

    async def search(self, collection: str, query: VectorQuery | TextQuery) -> list[Hit]:
        """At most ``limit`` hits, score descending, then key ascending."""
        held = self._held(collection)
        held.layout.check_filter(query.filter)
        if isinstance(query, TextQuery):
            return _by_words(held, query)[: query.limit]
        return _by_vector(held, query)[: query.limit]

    async def delete(
        self,
        collection: str,
        *,
        ids: Sequence[str] | None = None,
        filter: Filter | None = None,
        timeout_s: float | None = None,
    ) -> None:
        """Remove rows by key or by filter (exactly one of the two); absent rows are no error."""
        if (ids is None) == (filter is None):
            raise RequestInvalid("A delete takes either keys or a filter.")
        held = self._held(collection)
        held.layout.check_filter(filter)
        found = [row[held.layout.key] for row in held.matching(filter)] if ids is None else ids
        for key in found:
            held.remove(key)

    async def get(
        self,
        collection: str,
        ids: Sequence[str],
        columns: Sequence[str],
        timeout_s: float | None = None,
    ) -> pa.Table:
        """The rows with these keys that exist, keys ascending."""
        held = self._held(collection)
        found = [held.rows[key] for key in dict.fromkeys(ids) if key in held.rows]
        return to_table(held.layout, columns, found)

    async def scan(
        self,
        collection: str,
        filter: Filter | None,
        columns: Sequence[str],
        page: int = 10_000,
        strong: bool = True,
    ) -> AsyncIterator[pa.Table]:
        """Every matching row once, in pages of at most ``page`` rows, keys ascending."""
        held = self._held(collection)
        held.layout.check_filter(filter)
        size = page_rows(page, columns, MEMORY.max_limit)
        table = to_table(held.layout, columns, held.matching(filter))
        for start in range(0, table.num_rows, size):
            yield table.slice(start, size)

    async def create(self, collection: str, spec: CollectionSpec) -> None:
        """Create the collection; no error when it is there already."""
        layout = native_layout(spec, self._capabilities.full_text)
        held = self._collections.setdefault(collection, _Collection(layout))
        if held.layout != layout:
            raise CollectionConflict(
                f"The collection {collection!r} is there with other columns or another dimension."
            )

    async def exists(self, collection: str) -> bool:
        """Whether a collection, not an alias, has this name."""
        return collection in self._collections

    async def drop(self, collection: str) -> None:
        """Drop the collection; refused while an alias points to it."""
        pointing = sorted(name for name, to in self._aliases.items() if to == collection)
        if pointing or collection in self._aliases:
            raise StoreRejected(
                f"The collection {collection!r} is not dropped: {pointing} point to it.",
                "Point the alias to another collection first.",
            )
        self._collections.pop(collection, None)

    async def flush(self, collection: str) -> None:
        """Nothing to do, but for refusing a collection that is not there."""
        self._held(collection)

    async def count(self, collection: str) -> int:
        """Rows now."""
        return len(self._held(collection).rows)

    async def point_alias(self, alias: str, collection: str) -> None:
        """Create or move the alias."""
        if collection not in self._collections:
            raise StoreRejected(f"There is no collection {collection!r}.")
        if alias in self._collections:
            raise StoreRejected(f"{alias!r} is a collection, no alias.")
        self._aliases[alias] = collection

    async def alias_target(self, alias: str) -> str | None:
        """The collection that the alias points to, ``None`` when there is no such alias."""
        return self._aliases.get(alias)

    async def close(self) -> None:
        """Nothing to close; the rows stay until the process ends."""

    def _held(self, name: str) -> _Collection:
        held = self._collections.get(self._aliases.get(name, name))
        if held is None:
            raise StoreRejected(f"There is no collection {name!r}.", "Check its name.")
        return held


def _to_rows(layout: Layout, table: pa.Table) -> list[Row]:
    columns: dict[str, Sequence[Any]] = {
        column.name: list(vectors(layout, table))
        if column.kind is Kind.VECTOR
        else column_values(layout, column, table)
        for column in layout.columns
    }
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, values, strict=True)) for values in rows]


def _cosines(vector: np.ndarray[Any, Any], rows: list[np.ndarray[Any, Any]]) -> Sequence[float]:
    if not rows:
        return []
    matrix = np.stack(rows)
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector)
    # A vector of length 0 has no direction; it is as far from everything as it is near.
    scores: list[float] = np.divide(
        matrix @ vector, lengths, out=np.zeros(len(rows), np.float32), where=lengths > 0
    ).tolist()
    return scores


def _by_vector(held: _Collection, query: VectorQuery) -> list[Hit]:
    layout = held.layout
    vector = search_arguments(layout, query, MEMORY.max_limit)["data"][0]
    rows = held.matching(query.filter)
    cosines = _cosines(np.asarray(vector, np.float32), [row[layout.vector] for row in rows])
    hits = [
        Hit(row[layout.key], similarity(layout.metric, raw), None, raw, _shown(layout, query, row))
        for row, raw in zip(rows, cosines, strict=True)
    ]
    return sorted(hits, key=lambda hit: nearness(layout.metric, hit))


def _by_words(held: _Collection, query: TextQuery) -> list[Hit]:
    layout = held.layout
    layout.require_text()
    check_limit(query.limit, MEMORY.max_limit)
    field_names(layout, query.columns)
    found = scores(query.terms, held.words)
    hits = (
        Hit(key, None, found[key], found[key], _shown(layout, query, row))
        for row in held.matching(query.filter)
        if (key := row[layout.key]) in found
    )
    return by_score(hits)


def _shown(layout: Layout, query: VectorQuery | TextQuery, row: Row) -> dict[str, Any]:
    columns = [(name, layout.column(name)) for name in query.columns]
    return {name: plain(column, row[column.name]) for name, column in columns}
