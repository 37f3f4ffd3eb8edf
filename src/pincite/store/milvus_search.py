"""Search in Milvus collections, by vector and by words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from pincite.store.layout import Layout
from pincite.store.milvus_connection import remaining
from pincite.store.milvus_requests import (
    check_limit,
    expression,
    search_arguments,
    text_arguments,
)
from pincite.store.milvus_rows import MilvusRows
from pincite.store.port import Hit, TextQuery, VectorQuery
from pincite.store.reading import to_hits, to_text_hits
from pincite.store.segments import (
    ROWS_PER_WORD,
    Row,
    doubtful_words,
    holding,
    lifted,
    rows_of,
)

if TYPE_CHECKING:
    from pymilvus import AsyncMilvusClient

# How long a count of rows is good enough to weigh words by.
COUNT_TTL_S = 60.0

Left = Callable[[], float | None]
Find = Callable[[Sequence[str], int], Awaitable[list[list[Row]]]]


class MilvusSearch(MilvusRows):
    """The ``VectorStore`` half of a Milvus store."""

    _search_consistency: str
    _counts: dict[str, tuple[float, int]]

    async def search(self, collection: str, query: VectorQuery | TextQuery) -> list[Hit]:
        """At most ``limit`` hits, score descending, then key ascending."""
        left = remaining(query.timeout_s)
        layout = await self._layout(collection, left())
        layout.check_filter(query.filter)
        if isinstance(query, TextQuery):
            return await self._search_words(collection, layout, query, left)
        arguments = search_arguments(layout, query, self._connection.capabilities.max_limit)
        if expression(query.filter) is None:
            return []
        found = await self._search(collection, query, arguments, left)
        return to_hits(layout, query.columns, found[0])

    async def _search_words(
        self, collection: str, layout: Layout, query: TextQuery, left: Left
    ) -> list[Hit]:
        capabilities = self._connection.capabilities
        arguments = text_arguments(layout, [query.terms], query.limit, query.columns)
        check_limit(query.limit, capabilities.max_limit)
        if not query.terms.strip() or expression(query.filter) is None:
            return []
        if capabilities.segment_scores:
            return await self._search_segments(collection, layout, query, left)
        found = await self._search(collection, query, arguments, left)
        return to_text_hits(layout, query.columns, found[0])

    async def _search_segments(
        self, collection: str, layout: Layout, query: TextQuery, left: Left
    ) -> list[Hit]:
        """Search for the query, then for rows that its rare words call for (``segments``)."""
        words = layout.require_text().words
        columns = (*query.columns, words)

        async def find(texts: Sequence[str], limit: int) -> list[list[Row]]:
            arguments = text_arguments(layout, texts, limit, columns)
            answers = await self._search(collection, query, arguments, left)
            return [rows_of(to_text_hits(layout, columns, answer), words) for answer in answers]

        (first,), total = await asyncio.gather(
            find([query.terms], query.limit), self._about(collection, left)
        )
        rows, rare = await _with_sunken(query, first, find)
        hits = lifted(rows, rare, total)[: query.limit]
        return [_without(hit, query) for hit in hits]

    async def _search(
        self,
        collection: str,
        query: VectorQuery | TextQuery,
        arguments: dict[str, Any],
        left: Left,
    ) -> Any:
        wanted = expression(query.filter)

        async def work(client: AsyncMilvusClient, seconds: float) -> Any:
            return await client.search(
                collection,
                filter=wanted,
                timeout=seconds,
                consistency_level=self._search_consistency,
                **arguments,
            )

        return await self._call(f"search {collection!r}", collection, work, left())

    async def _about(self, collection: str, left: Left) -> int:
        """How many rows the collection has, or had a moment ago."""
        until, rows = self._counts.get(collection, (0.0, 0))
        if time.monotonic() >= until:
            rows = await self.count(collection, left())
            self._counts[collection] = (time.monotonic() + COUNT_TTL_S, rows)
        return rows


async def _with_sunken(
    query: TextQuery, first: list[Row], find: Find
) -> tuple[list[Row], dict[str, int]]:
    """The rows, those among them that only a rare word finds, and how many rows have which."""
    if len(first) < query.limit:
        # These are all rows that match: every word is known exactly.
        return first, holding(query.terms, first)
    doubtful = doubtful_words(query.terms, first)
    found = await find(doubtful, ROWS_PER_WORD) if doubtful else []
    counts = zip(doubtful, map(len, found), strict=True)
    rare = {word: count for word, count in counts if count < ROWS_PER_WORD}
    return [*first, *chain.from_iterable(found)], rare


def _without(hit: Hit, query: TextQuery) -> Hit:
    """The hit with no other columns than were asked for."""
    columns = {name: hit.columns[name] for name in query.columns}
    return Hit(hit.vector_id, None, hit.lexical, hit.raw_score, columns)
