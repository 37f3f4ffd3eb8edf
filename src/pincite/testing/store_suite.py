"""Conformance of a store: what every adapter of ``VectorStore`` and ``GenerationStore`` keeps.

Subclass the suites and give the fixture ``open_store``, which returns a function that opens a
new client of one and the same store.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pincite.analysis import analyze
from pincite.errors import CollectionConflict, RequestInvalid, StoreRejected, StoreUnreachable
from pincite.identity import chunk_key, text_sha256
from pincite.schemas.rows import rows_contract
from pincite.store.filters import And, Eq, Filter, Greater, In, Less, Ne, NotIn, Or
from pincite.store.port import CollectionSpec, VectorQuery
from pincite.store.registry import Store

OpenStore = Callable[[], Store]
Scenario = Callable[[Store, str], Awaitable[None]]

DIM = 8
SPEC = CollectionSpec(dim=DIM, scope_columns=("user_id",))
HARD_TEXT = 'Zitat: "so\\n", l\'été\t😀 \u2028 {x} % \x00 \r\n 中文 \ufeff'
_numbers = itertools.count(1)


def unit(angle: float) -> list[float]:
    """A vector of length 1 in ``DIM`` dimensions whose cosine with ``unit(0)`` is cos(angle)."""
    return [float(np.cos(angle)), float(np.sin(angle)), *[0.0] * (DIM - 2)]


def row(doc_id: str, chunk_index: int, **values: Any) -> dict[str, Any]:
    """One row of the rows table, with plausible values where none are given."""
    key = chunk_key(doc_id, chunk_index)
    content = str(values.get("content", f"Text {chunk_index} of {doc_id}."))
    plain = {
        "vector_id": key, "evidence_key": key, "doc_id": doc_id, "doc_version": 1,
        "chunk_index": chunk_index, "kb_scope": "", "category": "", "source": f"docs/{doc_id}",
        "title": f"Title of {doc_id}", "heading": "A > B", "content": content,
        "content_sha256": text_sha256(content), "terms": " ".join(analyze(content)),
        "char_start": 0, "char_end": len(content),
        "tokens": 3, "metadata": "{}", "embedding": unit(chunk_index / 10),
    }  # fmt: skip
    return plain | values


def table(*rows: dict[str, Any], **extra: list[Any]) -> pa.Table:
    """The rows as a conformed table, with further columns such as ``expires_at`` beside it."""
    made = rows_contract(DIM).from_rows(rows)
    for name, values in extra.items():
        made = made.append_column(name, pa.array(values))
    return made


def document(doc_id: str, chunks: int, **values: Any) -> pa.Table:
    """All rows of one document."""
    return table(*(row(doc_id, index, **values) for index in range(chunks)))


def on_store(open_store: OpenStore, scenario: Scenario, spec: CollectionSpec = SPEC) -> None:
    """Run the scenario on a new client with a new, empty collection; drop and close after."""

    async def run() -> None:
        store = open_store()
        collection = f"suite_{next(_numbers)}"
        try:
            await store.create(collection, spec)
            await scenario(store, collection)
            await store.drop(collection)
        finally:
            await store.close()

    asyncio.run(run())


async def keys_of(store: Store, collection: str, filter: Filter | None, **kwargs: Any) -> list[str]:
    """The keys of a scan, in the order they came."""
    pages = [page async for page in store.scan(collection, filter, ["doc_id"], **kwargs)]
    return [key for page in pages for key in page["vector_id"].to_pylist()]


class VectorStoreSuite:
    """Rows: written, found, read, removed."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("Give the fixture open_store.")

    def test_every_column_comes_back_as_it_was(self, open_store: OpenStore) -> None:
        metadata = {"ключ": {"b": [1, 2.5, None, True, "😀\u2028"]}, "quote": 'a"b\\n', "n": -1}
        text = json.dumps(metadata, ensure_ascii=False, sort_keys=True)
        hard = dict.fromkeys(("kb_scope", "category", "source", "title", "heading"), HARD_TEXT)
        spans = {"doc_version": 2**62, "char_start": 5, "char_end": 5 + len(HARD_TEXT)}
        written = table(
            row(f"d{HARD_TEXT}", 0, content=HARD_TEXT, metadata=text, **hard, **spans),
            expires_at=[1_900_000_000_000],
            user_id=[HARD_TEXT],
        )
        columns = [name for name in written.column_names if name not in _NOT_STORED]

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
            await store.upsert(collection, document("d", 1))
            read = await store.get(collection, ["d#chunk-0"], ["expires_at", "user_id"])
            assert read.to_pylist() == [{"vector_id": "d#chunk-0", "expires_at": 0, "user_id": ""}]

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

    def test_search_is_by_similarity_then_by_key(self, open_store: OpenStore) -> None:
        angles = {"b": 0.3, "a": 0.3, "far": 3.0, "near": 0.1, "c": 0.3}
        rows = table(*(row(doc, 0, embedding=unit(angle)) for doc, angle in angles.items()))

        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, rows)
            query = VectorQuery([2 * value for value in unit(0)], 5, columns=("doc_id",))
            hits = await _search_until(store, collection, query, 5)
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
            await _search_until(store, collection, VectorQuery(unit(0), 10), 6)
            for filter, expected in cases.items():
                assert await keys_of(store, collection, filter) == expected, filter
                hits = await store.search(collection, VectorQuery(unit(0), 10, filter))
                assert sorted(hit.vector_id for hit in hits) == expected, filter

        on_store(open_store, scenario)

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

    def test_twenty_searches_at_once_all_answer(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, document("d", 20))
            await _search_until(store, collection, VectorQuery(unit(0), 20), 20)
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


_NOT_STORED = frozenset({"vector_id", "evidence_key", "tokens", "terms"})


async def _search_until(
    store: Store, collection: str, query: VectorQuery, expected: int
) -> list[Any]:
    """The hits once all rows are visible: a Bounded search may lag behind the writes."""
    for _ in range(50):
        hits = await store.search(collection, query)
        if len(hits) >= expected:
            return hits
        await asyncio.sleep(0.1)
    raise AssertionError(f"{expected} rows did not become searchable in 5 s.")
