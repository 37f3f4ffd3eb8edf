"""Full text on Milvus: what is made, what old collections say, how many searches are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest

from pincite.errors import FullTextUnsupported
from pincite.store.capabilities import LITE, SERVER, SERVER_2_5
from pincite.store.milvus import MilvusStore
from pincite.store.native import milvus_indexes, milvus_schema
from pincite.store.port import Capabilities, TextQuery, VectorQuery
from pincite.testing.store_kit import SPEC, keys_of, unit
from pincite.testing.store_suite_text import TEXTS, found, texts_table


class Store(MilvusStore):
    """A store of Milvus Lite that is told what it can do, and counts what it is asked."""

    def __init__(self, path: str, capabilities: Capabilities) -> None:
        super().__init__(path)
        self.told = capabilities
        self.asked: list[list[str]] = []

    async def exists(self, collection: str) -> bool:
        there = await super().exists(collection)
        self._connection.capabilities = self.told
        return there

    async def _search(self, collection: str, query: Any, arguments: Any, left: Any) -> Any:
        self._connection.capabilities = self.told
        self.asked.append(arguments["data"])
        return await super()._search(collection, query, arguments, left)


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def test_a_collection_from_before_full_text_is_read_and_refuses_words(lite_path: str) -> None:
    """As an old server made it, and as a store finds it that has full text meanwhile."""

    async def work() -> None:
        old = Store(lite_path, replace(LITE, full_text=False))
        await old.exists("c")
        await _create_dense_only(old)
        store = MilvusStore(lite_path)
        await store.create("c", SPEC)
        assert await store.upsert("c", texts_table(TEXTS)) == len(TEXTS)
        hits = await store.search("c", VectorQuery(unit(0), 2, columns=("content",)))
        assert len(hits) == 2
        assert len(await keys_of(store, "c", None)) == len(TEXTS)
        assert (await store.get("c", ["run#chunk-0"], ["content"]))["content"].to_pylist() == [
            TEXTS["run"]
        ]
        with pytest.raises(FullTextUnsupported):
            await store.search("c", TextQuery("run", 5))
        await store.close()
        await old.close()

    run(work())


async def _create_dense_only(store: Store) -> None:
    def work(client: Any, limit_s: float) -> None:
        schema = milvus_schema(SPEC, store.told)
        client.create_collection("c", schema=schema, timeout=limit_s)

    await store._connection.administer("create", work)


def test_scores_that_compare_by_themselves_need_one_search(lite_path: str) -> None:
    async def work() -> None:
        plain = Store(lite_path, replace(LITE, segment_scores=False))
        await plain.create("c", SPEC)
        await plain.upsert("c", texts_table(TEXTS))
        plain.asked.clear()
        assert await found(plain, "c", "lease run", limit=1) == ["lease"]
        assert plain.asked == [["leas run"]]
        await plain.close()

    run(work())


def test_rare_words_are_searched_once_more_where_segments_differ(lite_path: str) -> None:
    async def work() -> None:
        store = Store(lite_path, LITE)
        await store.create("c", SPEC)
        await store.upsert("c", texts_table({f"d{n}": TEXTS["run"] for n in range(5)}))
        await store.upsert("c", texts_table({"zebra": "A zebra."}))
        store.asked.clear()
        assert await found(store, "c", "run zebra giraffe", limit=2) == ["zebra", "d0"]
        assert store.asked == [["run zebra giraff"], ["giraff"]]
        store.asked.clear()
        assert len(await found(store, "c", "run", limit=5)) == 5
        assert len(store.asked) == 1
        store.asked.clear()
        assert len(await found(store, "c", "run zebra", limit=50)) == 6
        assert len(store.asked) == 1
        await store.close()

    run(work())


@pytest.mark.parametrize(
    ("capabilities", "tokenizer"), [(LITE, "standard"), (SERVER_2_5, "whitespace")]
)
def test_the_words_are_parted_as_the_store_can(capabilities: Capabilities, tokenizer: str) -> None:
    schema = milvus_schema(SPEC, capabilities).to_dict()
    (terms,) = (field for field in schema["fields"] if field["name"] == "terms")
    assert terms["params"]["analyzer_params"] == f'{{"tokenizer":"{tokenizer}"}}'
    assert terms["params"]["max_length"] == 65_535
    (function,) = schema["functions"]
    assert (function["input_field_names"], function["output_field_names"]) == (
        ["terms"],
        ["sparse"],
    )


def test_the_parameters_of_the_score_are_sent_as_the_store_reads_them() -> None:
    weights = {"bm25_k1": 1.2, "bm25_b": 0.75}
    for capabilities, sent in ((LITE, {"params": weights}), (SERVER_2_5, weights)):
        made = {index.field_name: index.to_dict() for index in milvus_indexes(capabilities, True)}
        assert made["sparse"].items() >= {**sent, "metric_type": "BM25"}.items()
        assert made["embedding"]["metric_type"] == "COSINE"


def test_nothing_of_full_text_is_made_where_there_is_none() -> None:
    schema = milvus_schema(SPEC, SERVER).to_dict()
    assert {"terms", "sparse"} & {field["name"] for field in schema["fields"]} == set()
    assert [index.field_name for index in milvus_indexes(SERVER, False)] == ["embedding"]
    assert not milvus_indexes(SERVER, False, ["embedding"])
