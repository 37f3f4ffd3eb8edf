"""A filter means the same in memory, on Milvus Lite and on a server; a value is only itself."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
    matches,
)
from pincite.store.memory import MemoryStore
from pincite.store.milvus import MilvusStore
from pincite.store.registry import Store
from pincite.testing.store_suite import SPEC, keys_of, row, table

HARD = [
    "", " ", "a", "A", "a ", "*", "%", "_", "null", "None", "{}", "{x}", "[]", '"', "'", '"" or 1',
    '" or doc_id != "', "\\", "\\\\", '\\"', "\\n", "\n", "\r", "\t", "\x00", "a\x00b", "\x0b",
    "\x1b[0m", "\x7f", "\x85", "\u2028", "\ufeff", "\u200b", "é", "e\u0301", "中文", "😀", "\uffff",
    "\U0010ffff", "$meta", "//", "/*", "--", "0", "1e9", "true",
]  # fmt: skip
VALUES = st.one_of(st.sampled_from(HARD), st.text(st.characters(codec="utf-8"), max_size=12))
NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([2**63 - 1, 1 - 2**63, 2**53 + 1]))
TAGS = [JsonKey("metadata", key) for key in ("tag", "kbScope", "k \"\\']中😀 /~.$", "nowhere")]


def tags(n: int) -> str:
    """Metadata where keys lack, hold text, or hold something else."""
    odd: list[Any] = [1, True, ["a"], {"a": "a"}, 1.5]
    values = {TAGS[0].key: HARD[n % len(HARD)], TAGS[1].key: HARD[-n % 9], TAGS[2].key: "x"}
    kept = {key: value for at, (key, value) in enumerate(values.items()) if (n + at) % 4}
    return json.dumps(kept | ({TAGS[1].key: odd[n % 5]} if n % 7 == 0 else {}), ensure_ascii=False)


ROWS = [
    row(
        "p",
        n,
        title=HARD[n % len(HARD)],
        kb_scope=HARD[-n % 7],
        doc_version=(n * 7) % 5 - 2,
        metadata=tags(n),
    )
    for n in range(60)
]

Bounded = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


def leaves() -> st.SearchStrategy[Filter]:
    text, number = (
        st.sampled_from(["title", "kb_scope", *TAGS]),
        st.sampled_from(["chunk_index", "doc_version"]),
    )
    some = st.lists(VALUES, max_size=3).map(tuple)
    numbers = st.lists(NUMBERS, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Eq, text, VALUES),
        st.builds(Ne, text, VALUES),
        st.builds(Greater, text, VALUES),
        st.builds(In, text, some),
        st.builds(NotIn, text, some),
        st.builds(Exists, st.sampled_from(TAGS)),
        st.builds(Missing, st.sampled_from(TAGS)),
        st.builds(Less, number, NUMBERS),
        st.builds(Greater, number, NUMBERS),
        st.builds(In, number, numbers),
        st.builds(NotIn, number, numbers),
    )


FILTERS = st.recursive(
    leaves(),
    lambda inner: st.builds(
        lambda kind, parts: kind(tuple(parts)),
        st.sampled_from([And, Or]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=6,
)


@dataclass
class Bench:
    """A store on a loop of its own, with a collection for the whole module."""

    store: Store
    runner: asyncio.Runner
    collection: str
    examples: Iterator[int] = field(default_factory=itertools.count)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)


@pytest.fixture(scope="module")
def lite_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("parity") / "store.db")


@pytest.fixture(scope="module", params=["memory", "lite", "server"])
def bench(request: pytest.FixtureRequest, lite_folder: str) -> Iterator[Bench]:
    makers: dict[str, Callable[[], Store]] = {
        "memory": MemoryStore,
        "lite": lambda: MilvusStore(lite_folder),
        "server": lambda: MilvusStore(request.getfixturevalue("milvus_server_uri")),
    }
    store = makers[request.param]()
    with asyncio.Runner() as runner:
        runner.run(store.create("parity", SPEC))
        runner.run(store.create("parity_values", SPEC))
        runner.run(store.upsert("parity", table(*ROWS)))
        yield Bench(store, runner, "parity")
        runner.run(store.close())


@given(filters=st.lists(FILTERS, min_size=1, max_size=8))
@Bounded
def test_a_filter_means_the_same_on_every_store(bench: Bench, filters: list[Filter]) -> None:
    async def scan_all() -> list[list[str]]:
        reads = (keys_of(bench.store, "parity", filter) for filter in filters)
        return await asyncio.gather(*reads)

    for filter, found in zip(filters, bench.run(scan_all()), strict=True):
        expected = sorted(each["vector_id"] for each in ROWS if matches(filter, each))
        assert found == expected, filter


@given(values=st.sets(VALUES, min_size=1, max_size=10))
@Bounded
def test_a_value_matches_only_itself(bench: Bench, values: set[str]) -> None:
    only = sorted(values)
    example = f"e{next(bench.examples)}"
    keys = [f"{example}#chunk-{n}" for n in range(len(only))]
    mine = Eq("doc_id", example)

    async def ask() -> list[tuple[list[str], list[str]]]:
        rows = (
            row(example, n, title=value, metadata=json.dumps({"t": value}, ensure_ascii=False))
            for n, value in enumerate(only)
        )
        await bench.store.upsert("parity_values", table(*rows))
        return await asyncio.gather(*(ask_for(value) for value in only))

    async def ask_for(value: str) -> tuple[list[str], list[str]]:
        places = ("title", JsonKey("metadata", "t"))
        equal = And((mine, *(part for p in places for part in (Eq(p, value), In(p, (value,))))))
        other = And((mine, *(part for p in places for part in (Ne(p, value), NotIn(p, (value,))))))
        return (
            await keys_of(bench.store, "parity_values", equal),
            await keys_of(bench.store, "parity_values", other),
        )

    for key, (equal, other) in zip(keys, bench.run(ask()), strict=True):
        assert equal == [key]
        assert other == [each for each in sorted(keys) if each != key]


def test_hard_values_as_keys_are_found_replaced_and_deleted(bench: Bench) -> None:
    docs = [f"k{n}{value}" for n, value in enumerate(HARD)]
    keys = [f"{doc}#chunk-0" for doc in docs]

    async def work() -> None:
        for version in (1, 2):
            rows = table(*(row(doc, 0, doc_version=version) for doc in docs))
            await bench.store.upsert("parity_values", rows)
        read = await bench.store.get("parity_values", keys, ["doc_id", "doc_version"])
        assert read["vector_id"].to_pylist() == sorted(keys)
        assert set(read["doc_version"].to_pylist()) == {2}
        await bench.store.delete("parity_values", ids=keys[::2])
        left = await keys_of(bench.store, "parity_values", In("doc_id", tuple(docs)))
        assert left == sorted(keys[1::2])
        await bench.store.delete("parity_values", filter=In("doc_id", tuple(docs)))
        assert await keys_of(bench.store, "parity_values", In("doc_id", tuple(docs))) == []

    bench.run(work())
