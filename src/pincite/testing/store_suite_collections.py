"""Conformance of a store: collections, aliases, and what a connection brings with it."""

from __future__ import annotations

import asyncio

import pytest

from pincite.errors import CollectionConflict, StoreRejected, StoreUnreachable
from pincite.store.filters import Eq
from pincite.store.port import CollectionSpec, VectorQuery
from pincite.store.registry import Store
from pincite.testing.store_kit import (
    DIM,
    SPEC,
    OpenStore,
    document,
    keys_of,
    on_store,
    unit,
)


class GenerationStoreSuite:
    """Collections and aliases."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("Give the fixture open_store.")

    def test_creating_twice_keeps_the_rows(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, document("d", 2))
            await store.create(collection, SPEC)
            assert await store.count(collection) == 2
            with pytest.raises(CollectionConflict):
                await store.create(collection, CollectionSpec(dim=DIM + 1))

        on_store(open_store, scenario)

    def test_a_dropped_collection_is_gone_and_can_be_made_anew(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, document("d", 2))
            assert await store.exists(collection)
            await store.drop(collection)
            await store.drop(collection)
            assert not await store.exists(collection)
            with pytest.raises(StoreRejected):
                await store.flush(collection)
            await store.create(collection, CollectionSpec(dim=DIM))
            assert await store.count(collection) == 0

        on_store(open_store, scenario)

    def test_the_alias_follows_and_protects_what_it_points_to(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            alias, other = f"{collection}_alias", f"{collection}_other"
            await store.create(other, SPEC)
            await store.upsert(collection, document("old", 1))
            await store.upsert(other, document("new", 2))
            assert await store.alias_target(alias) is None
            for target, rows in ((collection, 1), (other, 2)):
                await store.point_alias(alias, target)
                await store.point_alias(alias, target)
                assert await store.alias_target(alias) == target
                assert await store.count(alias) == rows
                with pytest.raises(StoreRejected, match="point to it"):
                    await store.drop(target)
            with pytest.raises(StoreRejected):
                await store.drop(alias)
            with pytest.raises(StoreRejected):
                await store.point_alias(alias, "suite_absent")
            assert await store.exists(other)
            assert not await store.exists(alias)

        on_store(open_store, scenario)

    def test_flushed_rows_stay_readable(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, document("d", 3))
            await store.flush(collection)
            assert len(await keys_of(store, collection, Eq("doc_id", "d"))) == 3
            hits = await store.search(collection, VectorQuery(unit(0), 3))
            assert [hit.vector_id for hit in hits] == [f"d#chunk-{n}" for n in range(3)]

        on_store(open_store, scenario)


class RemoteStoreSuite:
    """What only a store behind a connection can show."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("Give the fixture open_store.")

    def test_a_deadline_is_an_error_in_time(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, document("d", 1))
            started = asyncio.get_running_loop().time()
            with pytest.raises(StoreUnreachable):
                await store.get(collection, ["d#chunk-0"], ["doc_id"], timeout_s=0.0001)
            with pytest.raises(StoreUnreachable):
                await store.search(collection, VectorQuery(unit(0), 1, timeout_s=0.0001))
            with pytest.raises(StoreUnreachable):
                await store.delete(collection, ids=["x"], timeout_s=0.0001)
            assert asyncio.get_running_loop().time() - started < 0.5

        on_store(open_store, scenario)

    def test_a_store_serves_several_loops_and_opens_again_after_closing(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()

        async def use(close: bool) -> int:
            try:
                await store.create("suite_loops", SPEC)
                await store.upsert("suite_loops", document("d", 1))
                return await store.count("suite_loops")
            finally:
                if close:
                    await store.close()

        assert [asyncio.run(use(close=True)) for _ in range(2)] == [1, 1]
