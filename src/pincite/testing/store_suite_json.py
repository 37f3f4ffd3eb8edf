"""Conformance of a store: filters on keys inside of a JSON column."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pincite.errors import RequestInvalid, StoreRejected
from pincite.store.filters import (
    And,
    Eq,
    Exists,
    Filter,
    Greater,
    In,
    JsonKey,
    Less,
    Missing,
    Ne,
    NotIn,
    Or,
)
from pincite.store.port import VectorQuery
from pincite.store.registry import Store
from pincite.testing.store_kit import (
    OpenStore,
    keys_of,
    on_store,
    row,
    search_until,
    table,
    unit,
)

SCOPE = JsonKey("metadata", "kb_scope")
HARD_KEY = JsonKey("metadata", "a \"\\ '.~1/$]中 😀")
METADATA: list[dict[str, Any]] = [
    {},
    {"kb_scope": "a"},
    {"kb_scope": "b", "other": 1},
    {"kb_scope": ""},
    {"kb_scope": 'a" or exists metadata["kb_scope"] or "'},
    {"kb_scope": None},
    {"kb_scope": ["a"]},
    {"kb_scope": {"a": "a"}},
    {"kb_scope": 1},
    {"kb_scope": True},
    {HARD_KEY.key: "x"},
]


def rows_where(*numbers: int) -> list[str]:
    """The keys of these rows, as a scan gives them."""
    return sorted(f"j#chunk-{number}" for number in numbers)


class JsonKeySuite:
    """Rows: selected by what stands under a key of their metadata."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("Give the fixture open_store.")

    def test_a_key_selects_the_same_rows_in_scan_and_search(self, open_store: OpenStore) -> None:
        every = set(range(len(METADATA)))
        cases: dict[Filter, set[int]] = {
            Eq(SCOPE, "a"): {1},
            Eq(SCOPE, METADATA[4]["kb_scope"]): {4},
            Eq(SCOPE, "1"): set(),
            Ne(SCOPE, "a"): every - {1},
            In(SCOPE, ("a", "b", "zz")): {1, 2},
            In(SCOPE, ()): set(),
            NotIn(SCOPE, ("a", "")): every - {1, 3},
            NotIn(SCOPE, ("b",)): every - {2},
            NotIn(SCOPE, ()): every,
            Greater(SCOPE, "a"): {2, 4},
            Eq(HARD_KEY, "x"): {10},
            Ne(HARD_KEY, "x"): every - {10},
            Exists(HARD_KEY): {10},
            Missing(HARD_KEY): every - {10},
            And((Missing(HARD_KEY), In(SCOPE, ("a", "b")), Eq("doc_id", "j"))): {1, 2},
            Or((Eq(SCOPE, "a"), Eq(HARD_KEY, "x"))): {1, 10},
        }

        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, _rows())
            await search_until(store, collection, VectorQuery(unit(0), 20), len(METADATA))
            for filter, expected in cases.items():
                assert await keys_of(store, collection, filter) == rows_where(*expected), filter
                hits = await store.search(collection, VectorQuery(unit(0), 20, filter))
                assert sorted(hit.vector_id for hit in hits) == rows_where(*expected), filter

        on_store(open_store, scenario)

    def test_a_key_selects_what_is_deleted(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, _rows())
            await store.delete(collection, filter=NotIn(SCOPE, ("a", "b")))
            assert await keys_of(store, collection, None) == rows_where(1, 2)

        on_store(open_store, scenario)

    def test_a_key_is_asked_for_in_a_json_column_and_compared_as_text(
        self, open_store: OpenStore
    ) -> None:
        async def scenario(store: Store, collection: str) -> None:
            with pytest.raises(StoreRejected, match="'title' holds text"):
                await keys_of(store, collection, Eq(JsonKey("title", "x"), "a"))
            with pytest.raises(StoreRejected, match="'metadata' holds json"):
                await keys_of(store, collection, Eq("metadata", "a"))
            with pytest.raises(StoreRejected, match="no column 'colour'"):
                await keys_of(store, collection, Exists(JsonKey("colour", "x")))
            for make in (Eq, Ne, Less, Greater):
                with pytest.raises(RequestInvalid, match="compares"):
                    make(SCOPE, 1)

        on_store(open_store, scenario)


def _rows() -> Any:
    texts = [json.dumps(values, ensure_ascii=False) for values in METADATA]
    return table(*(row("j", number, metadata=text) for number, text in enumerate(texts)))
