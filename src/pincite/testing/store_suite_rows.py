"""Conformance of a store: rows that are written, and rows that are refused."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from pincite.errors import StoreRejected
from pincite.schemas.owner import NOBODY
from pincite.schemas.rows import rows_contract
from pincite.store.filters import And, Eq, Less
from pincite.store.port import VectorQuery
from pincite.store.registry import Store
from pincite.testing.store_kit import (
    DIM,
    HARD_TEXT,
    OpenStore,
    document,
    keys_of,
    on_store,
    row,
    table,
    unit,
)

_NOT_STORED = frozenset({"vector_id", "evidence_key", "tokens", "terms"})


class WritingSuite:
    """Rows: written as they are, or refused whole."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("Give the fixture open_store.")

    def test_every_column_comes_back_as_it_was(self, open_store: OpenStore) -> None:
        metadata = {"ключ": {"b": [1, 2.5, None, True, "😀\u2028"]}, "quote": 'a"b\\n', "n": -1}
        text = json.dumps(metadata, ensure_ascii=False, sort_keys=True)
        hard = dict.fromkeys(("kb_scope", "category", "source", "title", "heading"), HARD_TEXT)
        spans = {"doc_version": 2**62, "char_start": 5, "char_end": 5 + len(HARD_TEXT)}
        owner = {"expires_at": 1_900_000_000_000, "user_id": HARD_TEXT}
        written = table(
            row(f"d{HARD_TEXT}", 0, content=HARD_TEXT, metadata=text, **hard, **spans, **owner),
        )
        absent = _NOT_STORED | (set(NOBODY) - set(owner))
        columns = [name for name in written.column_names if name not in absent]

        async def scenario(store: Store, collection: str) -> None:
            assert await store.upsert(collection, written) == 1
            key = written["vector_id"][0].as_py()
            read = await store.get(collection, [key], columns)
            assert read.to_pylist() == written.select(["vector_id", *columns]).to_pylist()
            assert read.schema.field("embedding").type == pa.list_(pa.float32(), DIM)
            hits = await store.search(collection, VectorQuery(unit(0), 1, columns=tuple(columns)))
            assert json.loads(hits[0].columns["metadata"]) == metadata
            assert {name: hits[0].columns[name] for name in hard} == hard

        on_store(open_store, scenario)

    def test_columns_that_a_table_does_not_bring_have_their_default(
        self, open_store: OpenStore
    ) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, document("d", 1).drop_columns(list(NOBODY)))
            read = await store.get(collection, ["d#chunk-0"], ["expires_at", "user_id"])
            assert read.to_pylist() == [{"vector_id": "d#chunk-0", "expires_at": 0, "user_id": ""}]

        on_store(open_store, scenario)

    def test_an_owner_that_the_collection_cannot_keep_is_refused(
        self, open_store: OpenStore
    ) -> None:
        async def scenario(store: Store, collection: str) -> None:
            for name, value in (("session_id", "s"), ("sensitivity_level", 1)):
                with pytest.raises(StoreRejected, match=f"unknown columns .*{name}"):
                    await store.upsert(collection, table(row("d", 0, **{name: value})))
            assert await store.count(collection) == 0

        on_store(open_store, scenario)

    def test_content_up_to_the_byte_limit_is_kept_and_longer_is_refused(
        self, open_store: OpenStore
    ) -> None:
        longest = "é" * 32_767 + "x"

        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, table(row("d", 0, content=longest)))
            read = await store.get(collection, ["d#chunk-0"], ["content"])
            assert read["content"].to_pylist() == [longest]
            with pytest.raises(StoreRejected, match=r"'content' of 'd#chunk-1' has 65536 bytes"):
                await store.upsert(collection, table(row("d", 1, content=longest + "x")))

        on_store(open_store, scenario)

    def test_upsert_again_changes_nothing_and_counts_once(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            for _ in range(2):
                assert await store.upsert(collection, document("d", 3)) == 3
            assert await store.count(collection) == 3
            assert await keys_of(store, collection, None) == [f"d#chunk-{n}" for n in range(3)]

        on_store(open_store, scenario)

    def test_no_rows_are_no_error(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            assert await store.upsert(collection, rows_contract(DIM).empty()) == 0
            assert await store.search(collection, VectorQuery(unit(0), 5)) == []
            assert (await store.get(collection, [], ["doc_id"])).num_rows == 0
            assert await keys_of(store, collection, None) == []
            await store.delete(collection, ids=[])
            await store.delete(collection, ids=["absent#chunk-0"])

        on_store(open_store, scenario)

    def test_replaced_rows_are_what_a_strong_read_sees(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            for version in range(1, 4):
                await store.upsert(collection, document("d", 2, doc_version=version))
                read = await store.get(collection, ["d#chunk-0", "d#chunk-1"], ["doc_version"])
                assert read["doc_version"].to_pylist() == [version, version]
                stale = And((Eq("doc_id", "d"), Less("doc_version", version)))
                assert await keys_of(store, collection, stale) == []

        on_store(open_store, scenario)

    def test_rows_that_stores_would_treat_unequally_are_refused(
        self, open_store: OpenStore
    ) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"metadata": "{"}, "no valid JSON"),
            ({"metadata": '{"a": NaN}'}, "no valid JSON"),
            ({"title": "x" * 9_000}, "'title'"),
            ({"embedding": [float("nan"), *[0.0] * (DIM - 1)]}, "not finite"),
        ]

        async def scenario(store: Store, collection: str) -> None:
            for values, reason in cases:
                with pytest.raises(StoreRejected, match=reason):
                    await store.upsert(collection, table(row("d", 0), row("d", 1, **values)))
            assert await store.count(collection) == 0

        on_store(open_store, scenario)

    def test_rows_of_another_shape_are_refused(self, open_store: OpenStore) -> None:
        good = document("d", 2)
        narrow = pa.array([[1.0]] * 2, pa.list_(pa.float32(), 1))
        at = good.schema.get_field_index("embedding")
        shapes = {
            "unknown columns": good.append_column("colour", pa.array(["red"] * 2)),
            "missing": good.drop_columns(["title"]),
            "Vectors are": good.set_column(at, "embedding", narrow),
            "more than once": pa.concat_tables([good, good]),
        }

        async def scenario(store: Store, collection: str) -> None:
            for reason, rows in shapes.items():
                with pytest.raises(StoreRejected, match=reason):
                    await store.upsert(collection, rows)

        on_store(open_store, scenario)
