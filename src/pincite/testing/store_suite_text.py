"""Conformance of a store: full text, and what a store without it says."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from pincite.analysis import analyze
from pincite.errors import FullTextUnsupported, RequestInvalid, StoreRejected
from pincite.store.bm25 import scores
from pincite.store.filters import And, Eq, In, Ne
from pincite.store.port import Hit, TextQuery, VectorQuery
from pincite.store.registry import Store
from pincite.testing.store_kit import OpenStore, on_store, row, search_until, table, unit

TEXTS = {
    "lease": "A killed run leaves its lease behind; leases run out by themselves.",
    "index": "How the HNSW index is tuned: the parameters M and efConstruction.",
    "zh": "如何调整HNSW索引的参数：M 和 efConstruction 决定召回率。",
    "zh2": "被终止的运行留下租约，租约会自行过期。",
    "run": "Every run is a row.",
}


def texts_table(texts: dict[str, str], **values: Any) -> pa.Table:
    """One row for each text, its document named by the key."""
    rows = (row(doc, 0, content=text, terms=query(text), **values) for doc, text in texts.items())
    return table(*rows)


def query(text: str) -> str:
    """The words of a text as rows and queries have them."""
    return " ".join(analyze(text))


async def found(store: Store, collection: str, text: str, **options: Any) -> list[str]:
    """The documents that a search for the words of a text finds, in order."""
    limit = options.pop("limit", 10)
    hits = await store.search(collection, TextQuery(query(text), limit, **options))
    return [hit.vector_id.partition("#")[0] for hit in hits]


class TextSuite:
    """Rows: found by their words."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("Give the fixture open_store.")

    def test_scores_are_bm25_and_order_the_hits(self, open_store: OpenStore) -> None:
        words = {f"{doc}#chunk-0": Counter(analyze(text)) for doc, text in TEXTS.items()}
        asked = query("Which lease does a run leave? 租约")

        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, texts_table(TEXTS))
            hits = await _until(store, collection, asked, 3)
            expected = scores(asked, words)
            given = {hit.vector_id: hit.lexical for hit in hits}
            assert given == pytest.approx(expected, rel=1e-4)
            assert list(given) == sorted(expected, key=lambda key: -expected[key])
            assert all(hit.similarity is None and hit.raw_score for hit in hits)

        on_store(open_store, scenario)

    def test_equal_scores_are_in_the_order_of_keys(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, texts_table(dict.fromkeys("dbca", TEXTS["run"])))
            await store.upsert(collection, texts_table({"e": "A run of a run of a run."}))
            await _until(store, collection, query("run"), 5)
            assert await found(store, collection, "run") == ["e", "a", "b", "c", "d"]

        on_store(open_store, scenario)

    def test_english_is_found_in_its_forms_and_chinese_by_parts_of_words(
        self, open_store: OpenStore
    ) -> None:
        cases = {
            "What are the PARAMETERS of indexes?": ["index"],
            "索引参数": ["zh"],
            "租约过期了吗": ["zh2"],
            "tuning hnsw": ["index", "zh"],
            "The and of with": [],
            "giraffe 长颈鹿": [],
        }

        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, texts_table(TEXTS))
            await _until(store, collection, query("run"), 2)
            for asked, expected in cases.items():
                assert await found(store, collection, asked) == expected, asked

        on_store(open_store, scenario)

    def test_rows_without_any_word_are_no_hits(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, texts_table({**TEXTS, "empty": "…"}))
            hits = await _until(store, collection, "leas giraff", 1)
            assert [hit.vector_id for hit in hits] == ["lease#chunk-0"]
            for terms in ("", " ", "giraff"):
                assert await store.search(collection, TextQuery(terms, 10)) == []

        on_store(open_store, scenario)

    def test_filters_are_in_force(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            for scope in ("x", 'y"\\', ""):
                texts = {f"{scope}-{n}": TEXTS["lease"] for n in range(4)}
                await store.upsert(collection, texts_table(texts, kb_scope=scope))
            await _until(store, collection, "leas", 12, limit=12)
            cases = {
                Eq("kb_scope", 'y"\\'): ['y"\\'],
                In("kb_scope", ("", "x")): ["", "x"],
                And((Ne("kb_scope", "x"), Ne("kb_scope", ""))): ['y"\\'],
                In("kb_scope", ()): [],
                Eq("kb_scope", "*"): [],
            }
            for filter, scopes in cases.items():
                expected = sorted(f"{scope}-{n}" for scope in scopes for n in range(4))
                assert sorted(await found(store, collection, "leases", filter=filter)) == expected

        on_store(open_store, scenario)

    def test_limits_cut_and_are_checked(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, texts_table({f"d{n}": TEXTS["run"] for n in range(30)}))
            await _until(store, collection, "run", 30, limit=30)
            for limit in (1, 7, 30, 100):
                assert len(await found(store, collection, "run", limit=limit)) == min(limit, 30)
            for limit in (0, store.capabilities.max_limit + 1):
                with pytest.raises(RequestInvalid):
                    await store.search(collection, TextQuery("run", limit))

        on_store(open_store, scenario)

    def test_the_columns_asked_for_come_back(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, texts_table(TEXTS))
            for columns in ((), ("content", "vector_id"), ("terms",)):
                hits = await _until(store, collection, "过期", 1, columns=columns)
                expected = {"content": TEXTS["zh2"], "vector_id": "zh2#chunk-0"}
                expected |= {"terms": query(TEXTS["zh2"])}
                assert hits[0].columns == {name: expected[name] for name in columns}
            with pytest.raises(StoreRejected, match="no column 'colour'"):
                await store.search(collection, TextQuery("run", 1, columns=("colour",)))

        on_store(open_store, scenario)

    def test_replaced_and_deleted_rows_are_not_found(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, texts_table(TEXTS))
            await store.flush(collection)
            await store.upsert(collection, texts_table({"lease": "A giraffe."}))
            await store.delete(collection, ids=["zh2#chunk-0"])
            await _until(store, collection, "giraff", 1)
            assert await found(store, collection, "lease 租约") == []
            assert await found(store, collection, "giraffes") == ["lease"]

        on_store(open_store, scenario)

    def test_a_late_row_ranks_by_the_rows_of_the_whole_collection(
        self, open_store: OpenStore
    ) -> None:
        """The late row is in a segment of its own, and then among several."""
        early = {f"d{n}": "Some runs " + ("take a lease." if n % 3 else "end.") for n in range(300)}
        late = {"late": "A quokka holds a lease and smiles at the zebra during its run."}

        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, texts_table(early))
            await store.flush(collection)
            await store.upsert(collection, texts_table(late))
            for step in range(4):
                await _until(store, collection, "quokka", 1)
                assert (await found(store, collection, "ends with a zebra"))[0] == "late"
                assert (await found(store, collection, "a run of the quokka"))[0] == "late"
                assert (await found(store, collection, "take lease smile", limit=3))[0] == "late"
                assert await found(store, collection, "smiling") == ["late"]
                await store.flush(collection)
                await store.upsert(collection, texts_table({f"x{step}": "Another lease of a run."}))

        on_store(open_store, scenario)

    def test_ten_searches_at_once_all_answer(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, texts_table(TEXTS))
            await _until(store, collection, "run", 2)
            asked = [query(text) for text in TEXTS.values()] * 2
            answers = await asyncio.gather(
                *(store.search(collection, TextQuery(terms, 1)) for terms in asked)
            )
            best = [hits[0].vector_id.partition("#")[0] for hits in answers]
            assert best == list(TEXTS) * 2

        on_store(open_store, scenario)


class DenseOnlySuite:
    """A store without full text: it says so, and does everything else."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("Give the fixture open_store.")

    def test_a_search_by_words_is_refused_with_a_code(self, open_store: OpenStore) -> None:
        async def scenario(store: Store, collection: str) -> None:
            await store.upsert(collection, texts_table(TEXTS))
            assert not store.capabilities.full_text
            for terms in ("leas", ""):
                with pytest.raises(FullTextUnsupported) as caught:
                    await store.search(collection, TextQuery(terms, 5))
                assert (caught.value.code, caught.value.retryable) == (
                    "FULL_TEXT_UNSUPPORTED",
                    False,
                )
            await search_until(store, collection, VectorQuery(unit(0), 5), 5)
            with pytest.raises(StoreRejected, match="no column 'terms'"):
                await store.get(collection, ["lease#chunk-0"], ["terms"])

        on_store(open_store, scenario)


async def _until(
    store: Store, collection: str, terms: str, expected: int, limit: int = 10, **options: Any
) -> list[Hit]:
    return await search_until(store, collection, TextQuery(terms, limit, **options), expected)
