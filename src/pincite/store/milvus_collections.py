"""Milvus collections behind generations, and the alias that follows the live one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pincite.errors import CollectionConflict, StoreRejected
from pincite.store.layout import Layout
from pincite.store.milvus_connection import ADMIN_TIMEOUT_S, MilvusConnection
from pincite.store.milvus_errors import ALIAS_NOT_FOUND, NOT_FOUND, vendor_code, vendor_exceptions
from pincite.store.native import milvus_indexes, milvus_schema, native_layout
from pincite.store.port import CollectionSpec
from pincite.store.reading import to_layout

if TYPE_CHECKING:
    from pymilvus import MilvusClient
    from pymilvus.milvus_client import IndexParams


class MilvusCollections:
    """The ``GenerationStore`` half of a Milvus store."""

    _connection: MilvusConnection
    _layouts: dict[str, Layout]
    _counts: dict[str, tuple[float, int]]

    async def create(self, collection: str, spec: CollectionSpec) -> None:
        """Create, index and load the collection; no error when it is there already.

        What a crash left half made, without an index or not loaded, is completed.

        Raises:
            CollectionConflict: It is there with other columns or another dimension.
        """

        def work(client: MilvusClient, limit_s: float) -> None:
            capabilities = self._connection.capabilities
            if collection not in client.list_collections(timeout=limit_s):
                schema = milvus_schema(spec, capabilities)
                client.create_collection(collection, schema=schema, timeout=limit_s)
            layout = _described(client, collection, spec, limit_s)
            made = client.list_indexes(collection)
            indexes = milvus_indexes(capabilities, layout.text is not None, made)
            _complete(client, collection, indexes, limit_s)

        self._forget(collection)
        await self._connection.administer(f"create {collection!r}", work, ADMIN_TIMEOUT_S)

    async def exists(self, collection: str) -> bool:
        """Whether a collection, not an alias, has this name."""

        def work(client: MilvusClient, limit_s: float) -> bool:
            return collection in client.list_collections(timeout=limit_s)

        return await self._connection.administer(f"look for {collection!r}", work)

    async def drop(self, collection: str) -> None:
        """Drop the collection; no error when it is not there.

        Raises:
            StoreRejected: An alias points to it, or the name is an alias. Milvus drops in
                silence what Pincite refuses here.
        """

        def work(client: MilvusClient, limit_s: float) -> None:
            if collection in client.list_collections(timeout=limit_s):
                _refuse_aliased(client, collection, limit_s)
                client.drop_collection(collection, timeout=limit_s)
            elif _target(client, collection, limit_s) is not None:
                raise StoreRejected(f"{collection!r} is an alias, no collection.")

        self._forget(collection)
        await self._connection.administer(f"drop {collection!r}", work, ADMIN_TIMEOUT_S)

    async def flush(self, collection: str) -> None:
        """Make written rows fast to search (Milvus Lite) and durable."""

        def work(client: MilvusClient, limit_s: float) -> None:
            if collection not in client.list_collections(timeout=limit_s):
                raise StoreRejected(f"There is no collection {collection!r} to flush.")
            client.flush(collection, timeout=limit_s)

        await self._connection.administer(f"flush {collection!r}", work, ADMIN_TIMEOUT_S)

    async def point_alias(self, alias: str, collection: str) -> None:
        """Create or move the alias, confirmed by describing it."""

        def work(client: MilvusClient, limit_s: float) -> str | None:
            if _target(client, alias, limit_s) is None:
                client.create_alias(collection, alias, timeout=limit_s)
            else:
                client.alter_alias(collection, alias, timeout=limit_s)
            return _target(client, alias, limit_s)

        self._forget(alias)
        now = await self._connection.administer(f"point {alias!r} to {collection!r}", work)
        if now != collection:
            raise StoreRejected(f"Alias {alias!r} points to {now!r} after moving it.")

    async def alias_target(self, alias: str) -> str | None:
        """The collection that the alias points to, ``None`` when there is no such alias."""

        def work(client: MilvusClient, limit_s: float) -> str | None:
            return _target(client, alias, limit_s)

        return await self._connection.administer(f"describe alias {alias!r}", work)

    def _forget(self, name: str) -> None:
        """What is known of a name may not hold for what it names next."""
        self._layouts.pop(name, None)
        self._counts.pop(name, None)


def _complete(client: MilvusClient, collection: str, indexes: IndexParams, limit_s: float) -> None:
    if len(indexes):
        # Waiting for the index of an empty collection costs half a second per index.
        client.create_index(collection, indexes, timeout=limit_s, sync=False)
    client.load_collection(collection, timeout=limit_s)


def _target(client: MilvusClient, alias: str, limit_s: float) -> str | None:
    """Described as a collection: server 2.3.5 describes aliases of the default database only."""
    try:
        described = client.describe_collection(alias, timeout=limit_s)
    except vendor_exceptions() as exc:
        if vendor_code(exc) in (ALIAS_NOT_FOUND, NOT_FOUND):
            return None
        raise
    name = str(described["collection_name"])
    return None if name == alias else name


def _refuse_aliased(client: MilvusClient, collection: str, limit_s: float) -> None:
    aliases = client.list_aliases(collection, timeout=limit_s)["aliases"]
    if aliases:
        raise StoreRejected(
            f"The collection {collection!r} is not dropped: {list(aliases)} point to it.",
            "Point the alias to another collection first.",
        )


def _described(
    client: MilvusClient, collection: str, spec: CollectionSpec, limit_s: float
) -> Layout:
    """The collection's layout; one without full text, of a store that had none, is as good.

    Raises:
        CollectionConflict: It has other columns.
    """
    there = to_layout(client.describe_collection(collection, timeout=limit_s), {})
    if set(there.columns) != set(native_layout(spec, there.text is not None).columns):
        raise CollectionConflict(
            f"The collection {collection!r} is there with other columns or another dimension."
        )
    return there
