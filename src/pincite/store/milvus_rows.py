"""Rows of Milvus collections: write, delete, read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pincite.errors import RequestInvalid
from pincite.store.filters import Filter, Greater, all_of
from pincite.store.layout import Layout
from pincite.store.milvus_calls import MilvusCalls
from pincite.store.milvus_connection import remaining
from pincite.store.milvus_requests import (
    expression,
    key_filters,
    last_key,
    page_rows,
    upsert_call,
)
from pincite.store.packing import upsert_requests
from pincite.store.prepare import check_rows
from pincite.store.reading import to_table

if TYPE_CHECKING:
    from pymilvus import AsyncMilvusClient

Row = Mapping[str, Any]

STRONG = "Strong"
BOUNDED = "Bounded"


class MilvusRows(MilvusCalls):
    """The ``VectorStore`` half of a Milvus store, but for searching."""

    async def upsert(self, collection: str, rows: pa.Table, timeout_s: float | None = None) -> int:
        """Write the rows; returns how many. Nothing is sent when a row cannot be stored."""
        if not rows.num_rows:
            return 0
        left = remaining(timeout_s)
        layout = await self._layout(collection, left())
        check_rows(layout, rows)
        written = 0
        for request in upsert_requests(collection, layout, rows):
            work = upsert_call(collection, request)
            written += await self._call(f"upsert into {collection!r}", collection, work, left())
        return written

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
        left = remaining(timeout_s)
        layout = await self._layout(collection, left())
        parts = [filter] if filter is not None else key_filters(layout, ids or ())
        for part in parts:
            layout.check_filter(part)
            wanted = expression(part)
            if wanted is not None:
                await self._delete(collection, wanted or f'{layout.key} != ""', left())

    async def _delete(self, collection: str, wanted: str, timeout_s: float | None) -> None:
        async def work(client: AsyncMilvusClient, left: float) -> Any:
            return await client.delete(
                collection, filter=wanted, timeout=left, consistency_level=STRONG
            )

        await self._call(f"delete from {collection!r}", collection, work, timeout_s)

    async def get(
        self,
        collection: str,
        ids: Sequence[str],
        columns: Sequence[str],
        timeout_s: float | None = None,
    ) -> pa.Table:
        """The rows with these keys that exist, Strong, keys ascending."""
        left = remaining(timeout_s)
        layout = await self._layout(collection, left())
        layout.schema(columns)
        reads = [
            self._query(collection, layout, part, columns, STRONG, None, left())
            for part in key_filters(layout, ids)
        ]
        found = [row for rows in await asyncio.gather(*reads) for row in rows]
        return to_table(layout, columns, found)

    async def scan(
        self,
        collection: str,
        filter: Filter | None,
        columns: Sequence[str],
        page: int = 10_000,
        strong: bool = True,
    ) -> AsyncIterator[pa.Table]:
        """Every matching row once, in pages of at most ``page`` rows, keys ascending.

        One query where the rows fit a page. Pages with content, metadata or vectors are smaller,
        since a server bounds the size of an answer.
        """
        layout = await self._layout(collection, None)
        layout.schema(columns)
        layout.check_filter(filter)
        size = page_rows(page, columns, self._connection.capabilities.max_limit)
        level = STRONG if strong else BOUNDED
        after: Filter | None = None
        while True:
            part = all_of((filter, after))
            rows = await self._query(collection, layout, part, columns, level, size, None)
            if rows:
                yield to_table(layout, columns, rows)
            if len(rows) < size:
                return
            after = Greater(layout.key, last_key(layout, rows))

    async def count(self, collection: str, timeout_s: float | None = None) -> int:
        """Rows now, Strong."""

        async def work(client: AsyncMilvusClient, left: float) -> Any:
            return await client.query(
                collection,
                filter="",
                output_fields=["count(*)"],
                timeout=left,
                consistency_level=STRONG,
            )

        rows = await self._call(f"count {collection!r}", collection, work, timeout_s)
        return int(rows[0]["count(*)"])

    async def _query(
        self,
        collection: str,
        layout: Layout,
        filter: Filter | None,
        columns: Sequence[str],
        level: str,
        limit: int | None,
        timeout_s: float | None,
    ) -> list[Row]:
        wanted = expression(filter)
        if wanted is None:
            return []
        names = list(dict.fromkeys([layout.key, *(layout.column(name).name for name in columns)]))
        paging = self._paging(limit)

        async def work(client: AsyncMilvusClient, left: float) -> Any:
            return await client.query(
                collection,
                filter=wanted,
                output_fields=names,
                timeout=left,
                consistency_level=level,
                **paging,
            )

        return list(await self._call(f"query {collection!r}", collection, work, timeout_s))

    def _paging(self, limit: int | None) -> dict[str, Any]:
        """Servers give rows by key; Milvus Lite does when it is asked as an iterator would."""
        if limit is None:
            return {}
        if self._connection.capabilities.query_in_key_order:
            return {"limit": limit}
        return {"limit": limit, "iterator": "True"}
