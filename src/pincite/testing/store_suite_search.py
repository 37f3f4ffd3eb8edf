"""Conformance of a store: search by vector, and filters."""

from __future__ import annotations

import asyncio

import numpy as np
import pyarrow as pa
import pytest

from pincite.errors import RequestInvalid, StoreRejected
from pincite.store.filters import And, Eq, Filter, Greater, In, Less, Ne, NotIn, Or
from pincite.store.port import VectorQuery
from pincite.store.registry import Store
from pincite.testing.store_kit import (
    OpenStore,
    document,
    keys_of,
    on_store,
    row,
    search_until,
    table,
    unit,
)


class SearchSuite:
    """Rows: found by vector, within filters."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("Give the fixture open_store.")

    def test_search_is_by_similarity_then_by_key(self, open_store: OpenStore) -> None:
        angles = {"b": 0.3, "a": 0.3, "far": 3.0, "near": 0.1, "c": 0.3}
        rows = table(*(row(doc, 0, embedding=unit(angle)) for doc, angle in angles.items()))

        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, rows)
            query = VectorQuery([2 * value for value in unit(0)], 5, columns=("doc_id",))
            hits = await search_until(store, collection, query, 5)
            assert [hit.columns["doc_id"] for hit in hits] == ["near", "a", "b", "c", "far"]
            for hit in hits:
                expected = np.cos(angles[hit.columns["doc_id"]])
                assert hit.similarity == pytest.approx(expected, abs=1e-5)
                assert -1.0 <= hit.similarity <= 1.0
            assert len(await store.search(collection, VectorQuery(unit(0), 2))) == 2

        on_store(open_store, scenario)

    def test_filters_select_the_same_rows_in_scan_and_search(self, open_store: OpenStore) -> None:
        rows = pa.concat_tables(
            [document("a", 3, kb_scope="x"), document('b"\\', 2), document("c", 1, doc_version=7)]
        )
        a, b, c = ([f"{doc}#chunk-{n}" for n in range(3)] for doc in ("a", 'b"\\', "c"))
        cases: dict[Filter, list[str]] = {
            Eq("doc_id", 'b"\\'): b[:2],
            Ne("kb_scope", "x"): b[:2] + c[:1],
            In("doc_id", ("a", "c", "zz")): a + c[:1],
            In("doc_id", ()): [],
            NotIn("chunk_index", (0, 1)): a[2:],
            NotIn("doc_id", ()): a + b[:2] + c[:1],
            Less("doc_version", 7): a + b[:2],
            Greater("chunk_index", 0): a[1:] + b[1:2],
            Greater("doc_id", "b"): b[:2] + c[:1],
            And(()): a + b[:2] + c[:1],
            Or(()): [],
            And((Eq("doc_id", "a"), Or((Eq("chunk_index", 0), Eq("chunk_index", 2))))): [
                a[0],
                a[2],
            ],
            Or((Eq("kb_scope", "x"), Or(()), Eq("doc_version", 7))): a + c[:1],
        }

        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, rows)
            await search_until(store, collection, VectorQuery(unit(0), 10), 6)
            for filter, expected in cases.items():
                assert await keys_of(store, collection, filter) == expected, filter
                hits = await store.search(collection, VectorQuery(unit(0), 10, filter))
                assert sorted(hit.vector_id for hit in hits) == expected, filter

        on_store(open_store, scenario)

    def test_twenty_searches_at_once_all_answer(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, document("d", 20))
            await search_until(store, collection, VectorQuery(unit(0), 20), 20)
            fresh = open_store()
            try:
                queries = [VectorQuery(unit(n / 10), 1) for n in range(20)]
                found = await asyncio.gather(*(fresh.search(collection, q) for q in queries))
            finally:
                await fresh.close()
            assert [hits[0].vector_id for hits in found] == [f"d#chunk-{n}" for n in range(20)]

        on_store(open_store, scenario)

    def test_unknown_names_are_coded_errors(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            with pytest.raises(StoreRejected):
                await store.search("suite_absent", VectorQuery(unit(0), 1))
            with pytest.raises(StoreRejected):
                await store.upsert("suite_absent", document("d", 1))
            with pytest.raises(StoreRejected):
                await store.count("suite_absent")
            with pytest.raises(StoreRejected, match="no column 'colour'"):
                await store.get(collection, ["a"], ["colour"])
            with pytest.raises(StoreRejected, match="no column 'colour'"):
                await keys_of(store, collection, Eq("colour", "red"))
            with pytest.raises(StoreRejected, match="holds text"):
                await keys_of(store, collection, Eq("doc_id", 1))
            with pytest.raises(StoreRejected, match="shape"):
                await store.search(collection, VectorQuery([1.0], 1))
            with pytest.raises(RequestInvalid):
                await store.search(collection, VectorQuery(unit(0), 0))

        on_store(open_store, scenario)
