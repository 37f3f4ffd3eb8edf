"""Search in Milvus collections, by vector and by words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
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
from pincite.store.segments import WORD_HITS, Found, single_words, weighed

if TYPE_CHECKING:
    from pymilvus import AsyncMilvusClient

# How long a count of rows is good enough to weigh words by.
COUNT_TTL_S = 60.0

Left = Callable[[], float | None]


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
        found = await self._search(collection, query, arguments, left)
        return to_hits(layout, query.columns, found[0]) if found else []

    async def _search_words(
        self, collection: str, layout: Layout, query: TextQuery, left: Left
    ) -> list[Hit]:
        capabilities = self._connection.capabilities
        arguments = text_arguments(layout, [query.terms], query.limit, query.columns)
        check_limit(query.limit, capabilities.max_limit)
        if not query.terms.strip():
            return []
        if capabilities.segment_scores:
            return await self._search_segments(collection, layout, query, left)
        found = await self._search(collection, query, arguments, left)
        return to_text_hits(layout, query.columns, found[0]) if found else []

    async def _search_segments(
        self, collection: str, layout: Layout, query: TextQuery, left: Left
    ) -> list[Hit]:
        """Search for the query and for each of its words, and weigh by the whole collection."""
        words = layout.require_text().words
        singles, hits = single_words(query.terms), max(query.limit, WORD_HITS)
        columns = (*query.columns, words)
        arguments = text_arguments(layout, [query.terms, *singles], hits, columns)
        answers, rows = await asyncio.gather(
            self._search(collection, query, arguments, left), self._about(collection, left)
        )
        if not answers:
            return []
        whole, *lists = (to_text_hits(layout, columns, answer) for answer in answers)
        by_word = dict(zip(singles, lists, strict=True))
        found = Found(whole, by_word, hits, rows, words)
        return [_without(hit, query) for hit in weighed(query.terms, found)[: query.limit]]

    async def _search(
        self,
        collection: str,
        query: VectorQuery | TextQuery,
        arguments: dict[str, Any],
        left: Left,
    ) -> Any:
        """What the store answers; nothing where no row can match the filter."""
        wanted = expression(query.filter)
        if wanted is None:
            return None

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


def _without(hit: Hit, query: TextQuery) -> Hit:
    """The hit with no other columns than were asked for."""
    columns = {name: hit.columns[name] for name in query.columns}
    return Hit(hit.vector_id, None, hit.lexical, hit.raw_score, columns)
