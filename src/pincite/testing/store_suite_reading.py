"""Conformance of a store: rows that are read and removed."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pincite.errors import RequestInvalid
from pincite.store.filters import And, Eq, Less
from pincite.store.registry import Store
from pincite.testing.store_kit import (
    OpenStore,
    document,
    keys_of,
    on_store,
)


class ReadingSuite:
    """Rows: read by key and by filter, removed."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("Give the fixture open_store.")

    def test_deleted_rows_are_absent_from_strong_reads(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, pa.concat_tables([document("a", 4), document("b", 2)]))
            await store.delete(collection, ids=["a#chunk-3", "b#chunk-1"])
            assert await keys_of(store, collection, None) == [
                "a#chunk-0", "a#chunk-1", "a#chunk-2", "b#chunk-0",
            ]  # fmt: skip
            await store.upsert(collection, document("a", 1, doc_version=2))
            await store.delete(collection, filter=And((Eq("doc_id", "a"), Less("doc_version", 2))))
            assert await keys_of(store, collection, None) == ["a#chunk-0", "b#chunk-0"]
            assert await store.count(collection) == 2
            await store.delete(collection, filter=And(()))
            assert await store.count(collection) == 0

        on_store(open_store, scenario)

    def test_delete_takes_keys_or_a_filter(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            with pytest.raises(RequestInvalid):
                await store.delete(collection)
            with pytest.raises(RequestInvalid):
                await store.delete(collection, ids=["a"], filter=Eq("doc_id", "a"))

        on_store(open_store, scenario)

    def test_scan_gives_every_row_once_whatever_the_page(self, open_store: OpenStore) -> None:
        expected = sorted(f"{doc}#chunk-{n}" for doc in "cd" for n in range(25))

        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, document("d", 25))
            await store.flush(collection)
            await store.upsert(collection, document("c", 27, doc_version=2))
            for page in (7, 25, 50, 51):
                pages = [
                    found["vector_id"].to_pylist()
                    async for found in store.scan(
                        collection, Less("chunk_index", 25), ["doc_version"], page=page
                    )
                ]
                assert [key for found in pages for key in found] == expected
                assert max(map(len, pages)) <= page

        on_store(open_store, scenario)

    def test_get_brings_each_existing_key_once(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, document("d", 3))
            asked = ["d#chunk-2", "nothing", "d#chunk-0", "d#chunk-2", "vector:é\n"]
            read = await store.get(collection, asked, ["chunk_index", "vector_id"])
            assert read.to_pylist() == [
                {"vector_id": f"d#chunk-{n}", "chunk_index": n} for n in (0, 2)
            ]

        on_store(open_store, scenario)
