"""No row of another scope ever comes back, whatever stands in the filter fields."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pincite.errors import ScopeInvalid
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.result import LookupResult
from pincite.store.milvus import MilvusStore
from pincite.testing.lookups import parts_of
from pincite.testing.memory_corpus import SCOPE_COLUMNS, MemoryCorpus
from pincite.testing.small_corpus import SmallCorpus, spans_of

# Values that an expression, a pattern or a careless comparison would take for something else.
HOSTILE = (
    "plain", "*", "%", "_", "null", "None", "true", "0", "-1", "[]", "{}", "a,b", "rag-eval",
    'a"', "a'", 'a" or "1" == "1', "a' or '1' == '1", '"] or kb_scope not in ["', "a\\", "a\\\\",
    '\\"', "a\nb", "a\r\nb", "a\tb", "a\0b", " lead", "trail ", "A", "a", "é", "e\u0301", "🙂",
    "知", "$x", "${x}", "{user_id}", "kb_scope", "a || true", "a) or (1 == 1", "//", "like",
    "x" * 256,
)  # fmt: skip
TOO_LONG = "é" * 250  # 500 bytes
MODES = st.sampled_from(["dense", "hybrid"])
LABELS = st.sampled_from(HOSTILE)
ANYTHING = st.one_of(LABELS, st.text(min_size=1, max_size=80).filter(str.strip))
WORDS = "shared words"
QUICK = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@dataclass
class World:
    """Documents of every label, memory items of many owners, in one store."""

    docs: SmallCorpus
    memory: MemoryCorpus
    loop: asyncio.AbstractEventLoop

    def look(self, corpus: SmallCorpus, **options: Any) -> LookupResult:
        request = LookupRequest(
            WORDS,
            corpus=corpus.corpus,
            **{"timeout_ms": 60_000, "retrieve_k": 200, "return_n": 200, **options},
        )
        return self.loop.run_until_complete(lookup_direct(request, parts_of(corpus)))


async def _fill(folder: Path, store: MilvusStore) -> tuple[SmallCorpus, MemoryCorpus]:
    docs = await SmallCorpus(folder / "docs", store=store).create()
    memory = await MemoryCorpus(folder / "memory", store=store).create()
    backwards = reversed(HOSTILE)
    labelled = [
        {"kb_scope": label, "category": category, "title": label}
        for label, category in zip(HOSTILE, backwards, strict=True)
    ]
    owned = [
        {"title": "\x1f".join(ids), **dict(zip(SCOPE_COLUMNS, ids, strict=True))}
        for ids in zip(HOSTILE, HOSTILE[1:], HOSTILE[2:], strict=False)
    ]
    await _write(docs, [{"title": "open"}, *labelled])
    await _write(memory, owned)
    return docs, memory


async def _write(corpus: SmallCorpus, records: list[dict[str, str]]) -> None:
    """One document of one chunk for each record, in one call of the store."""
    opened = []
    for number, record in enumerate(records):
        text = f"{WORDS} {number}"
        opened.append(corpus.open(f"d{number}", text, spans_of([text]), **record))
    await corpus.upsert_rows([row for one in opened for row in one.rows])
    for one in opened:
        corpus.stamp(one)
    await corpus.store.flush(corpus.collection)


@pytest.fixture(scope="module", params=["lite_server_uri", "milvus_server_uri"])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    uri = request.getfixturevalue(request.param)
    database = ""
    if request.param == "milvus_server_uri":
        from pymilvus import MilvusClient

        database = f"isolation_{next(_numbers)}"
        client = MilvusClient(uri)
        client.create_database(database)
        client.close()
    store = MilvusStore(uri, database=database, search_consistency="Strong")
    loop = asyncio.new_event_loop()
    docs, memory = loop.run_until_complete(_fill(tmp_path_factory.mktemp("isolation"), store))
    yield World(docs, memory, loop)
    for corpus in (docs, memory):
        corpus.catalog.close()
    loop.run_until_complete(store.close())
    loop.close()


_numbers = itertools.count(1)


def labels(result: LookupResult) -> set[str]:
    return {block.candidate.kb_scope for block in result.blocks}


def titles(result: LookupResult) -> set[str]:
    return {block.candidate.title for block in result.blocks}


@QUICK
@given(scope=ANYTHING, category=st.one_of(st.just(""), ANYTHING), mode=MODES)
def test_a_scope_shows_its_own_rows_only(
    world: World, scope: str, category: str, mode: str
) -> None:
    result = world.look(world.docs, kb_scope=scope, category=category, mode=mode)
    assert labels(result) == ({scope} if scope in HOSTILE else set())


@QUICK
@given(excluded=st.lists(ANYTHING, max_size=4), mode=MODES)
def test_excluded_scopes_are_left_out_and_no_others(
    world: World, excluded: list[str], mode: str
) -> None:
    result = world.look(world.docs, exclude_scopes=tuple(excluded), mode=mode)
    assert labels(result) == {"", *HOSTILE} - {one for one in excluded if one}


@QUICK
@given(ids=st.tuples(ANYTHING, ANYTHING, ANYTHING), mode=MODES)
def test_memory_shows_what_its_owner_has(
    world: World, ids: tuple[str, str, str], mode: str
) -> None:
    result = world.look(world.memory, mode=mode, **dict(zip(SCOPE_COLUMNS, ids, strict=True)))
    assert titles(result) <= {"\x1f".join(ids)}


@pytest.mark.parametrize("label", [TOO_LONG, " ", "\n", "\ud800"])
def test_a_label_that_cannot_be_one_is_refused(world: World, label: str) -> None:
    with pytest.raises(ScopeInvalid):
        world.look(world.docs, kb_scope=label)
    with pytest.raises(ScopeInvalid):
        world.look(world.memory, user_id=label, assistant_id="a", conversation_id="c")


@pytest.mark.parametrize("number", range(0, len(HOSTILE) - 2, 4))
def test_an_owner_sees_what_is_his(world: World, number: int) -> None:
    ids = HOSTILE[number : number + 3]
    result = world.look(world.memory, **dict(zip(SCOPE_COLUMNS, ids, strict=True)))
    assert titles(result) == {"\x1f".join(ids)}
