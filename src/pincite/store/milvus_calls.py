"""Calls about one Milvus collection: its layout, and loading it where it is not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from pincite.store.layout import Layout
from pincite.store.milvus_connection import MilvusConnection
from pincite.store.milvus_errors import NOT_LOADED, vendor_code, vendor_exceptions
from pincite.store.reading import to_layout

if TYPE_CHECKING:
    from pymilvus import AsyncMilvusClient

T = TypeVar("T")


class MilvusCalls:
    """What reading, writing and searching a collection share."""

    _connection: MilvusConnection
    _layouts: dict[str, Layout]

    async def _layout(self, collection: str, timeout_s: float | None) -> Layout:
        if collection not in self._layouts:
            self._layouts[collection] = await self._describe(collection, timeout_s)
        return self._layouts[collection]

    async def _describe(self, collection: str, timeout_s: float | None) -> Layout:
        async def work(client: AsyncMilvusClient, left: float) -> Layout:
            description = await client.describe_collection(collection, timeout=left)
            bare = to_layout(description, {})
            index = await client.describe_index(collection, bare.vector, timeout=left)
            return to_layout(description, index or {})

        return await self._connection.call(f"describe {collection!r}", work, timeout_s)

    async def _call(
        self,
        action: str,
        collection: str,
        work: Callable[[AsyncMilvusClient, float], Awaitable[T]],
        timeout_s: float | None,
    ) -> T:
        """Run the work; a collection that is not loaded, as after a restart, is loaded first."""

        async def loaded(client: AsyncMilvusClient, left: float) -> T:
            try:
                return await work(client, left)
            except vendor_exceptions() as exc:
                if vendor_code(exc) != NOT_LOADED:
                    raise
            await client.load_collection(collection, timeout=left)
            return await work(client, left)

        return await self._connection.call(action, loaded, timeout_s)
