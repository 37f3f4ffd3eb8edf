"""Hot queries in a lookup: what is given again, and what is not."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pincite.embedding.port import Vectors
from pincite.errors import EmbedderUnreachable, StoreUnreachable
from pincite.retrieval.hot import HotQueries
from pincite.retrieval.parts import LookupParts
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import LookupRequest
from pincite.store.memory import MemoryStore
from pincite.store.port import VectorQuery
from pincite.testing.faults import Fault, Instead, put, raising
from pincite.testing.lookups import (
    Query,
    codes,
    fruit_corpus,
    keys,
    lasting,
    look,
    parts_of,
    watched,
    write,
)
from pincite.testing.memory_corpus import OWNER, MemoryCorpus
from pincite.testing.small_corpus import SmallCorpus


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[SmallCorpus]:
    with fruit_corpus(tmp_path) as made:
        yield made


def hot() -> HotQueries:
    return HotQueries(vectors=100, results=100)


def asked_by(corpus: SmallCorpus, **others: Any) -> tuple[LookupParts, list[Query]]:
    """Parts with a cache, and what they ask the store."""
    queries: list[Query] = []
    return parts_of(corpus, store=watched(corpus.store, queries), hot=hot(), **others), queries


def test_the_same_lookup_is_answered_without_a_search(corpus: SmallCorpus) -> None:
    parts, queries = asked_by(corpus)
    request = LookupRequest("apples", mode="hybrid", category="food", low_quality=0.99)  # type: ignore[arg-type]
    first = asyncio.run(lookup_direct(request, parts))
    asked = len(queries)
    again = asyncio.run(lookup_direct(request, parts))
    assert (asked, len(queries)) == (4, 4)
    assert lasting(again) == lasting(first)
    assert again.trace_id != first.trace_id
    assert {stage.latency_ms for stage in again.trace.stages} == {0}
    assert parts.hot.counts() | {"results_hits": 1, "results_misses": 1} == parts.hot.counts()


def test_an_answer_that_is_given_again_is_a_lookup_too(corpus: SmallCorpus) -> None:
    parts, _ = asked_by(corpus)
    results = [look(parts, "apples", trace_id=f"t-{number}") for number in range(2)]
    assert [result.trace_id for result in results] == ["t-0", "t-1"]
    lines = corpus.catalog.activity.lookups("docs")
    assert [line.trace_id for line in lines] == ["t-1", "t-0"]
    assert lines[0].blocks == lines[1].blocks


def test_a_document_that_is_written_in_between_is_seen_at_once(corpus: SmallCorpus) -> None:
    parts, _ = asked_by(corpus)
    assert keys(look(parts, "cherries"))[0].startswith("fruit")
    write(corpus, "more", "cherries are sweet")
    assert keys(look(parts, "cherries"))[0] == "more#chunk-0"


def test_a_document_that_is_removed_in_between_is_not_given_again(corpus: SmallCorpus) -> None:
    parts, _ = asked_by(corpus)
    assert look(parts, "apples").blocks
    asyncio.run(corpus.remove("fruit"))
    assert look(parts, "apples").blocks == ()


@pytest.mark.parametrize(
    "change",
    [
        {"kb_scope": "team"},
        {"exclude_scopes": ()},
        {"return_n": 1},
        {"mode": "lexical"},
        {"category": "food"},
        {"threshold": 0.1},
        {"token_budget": 10},
        {"rerank": False},
    ],
)
def test_another_request_is_another_answer(corpus: SmallCorpus, change: dict[str, Any]) -> None:
    parts, queries = asked_by(corpus)
    look(parts, "apples")
    asked = len(queries)
    look(parts, "apples", **change)
    assert len(queries) > asked
    assert parts.hot.counts()["results_hits"] == 0


def test_an_answer_of_another_scope_is_never_given(corpus: SmallCorpus) -> None:
    write(corpus, "hidden", "apples in the vault", kb_scope="board")
    parts, _ = asked_by(corpus)
    board = look(parts, "apples", kb_scope="board")
    team = look(parts, "apples", kb_scope="team")
    assert (keys(board), keys(team)) == (["hidden#chunk-0"], [])
    assert keys(look(parts, "apples", kb_scope="board")) == ["hidden#chunk-0"]


def test_a_degraded_answer_is_not_kept(corpus: SmallCorpus) -> None:
    gone = put(
        corpus.store,
        "search",
        raising(StoreUnreachable("Gone.")),
        lambda _, query: isinstance(query, VectorQuery),
    )
    parts, queries = asked_by(corpus)
    broken = replace(parts_of(corpus, store=gone), hot=parts.hot)
    assert codes(look(broken, "apples", mode="hybrid")) == ["store_unreachable"]
    healed = look(parts, "apples", mode="hybrid")
    assert (codes(healed), len(queries)) == ([], 2)


def test_what_will_always_be_lacking_is_kept_with_its_code(tmp_path: Path) -> None:
    with fruit_corpus(tmp_path, store=MemoryStore(full_text=False)) as corpus:
        parts, queries = asked_by(corpus)
        first, again = (look(parts, "apples", mode="hybrid") for _ in range(2))
    assert codes(first) == codes(again) == ["hybrid_unsupported"]
    assert lasting(first) == lasting(again)
    assert len(queries) == 2


def test_a_line_that_was_not_kept_once_is_no_lack_of_the_next_answer(corpus: SmallCorpus) -> None:
    full = put(corpus.catalog, "activity.record_lookup", raising(OSError("disk full")))
    parts, _ = asked_by(corpus)
    broken = replace(parts, catalog=full)
    recorded = ["lookup_not_recorded"]
    assert [codes(look(one, "apples")) for one in (broken, parts, broken, parts)] == [
        recorded,
        [],
        recorded,
        [],
    ]


def test_the_vector_of_a_query_is_computed_once(corpus: SmallCorpus) -> None:
    count = 0

    async def embed(*given: Any, **named: Any) -> Vectors:
        nonlocal count
        count += 1
        return await corpus.embedder.embed(*given, **named)

    parts, _ = asked_by(corpus, embedder=Instead(corpus.embedder, embed=embed))
    results = [look(parts, "apples", return_n=n) for n in (1, 2, 3)]
    assert count == 1
    assert [result.blocks[0] for result in results[1:]] == [results[0].blocks[0]] * 2


def test_an_embedder_that_failed_is_asked_again(corpus: SmallCorpus) -> None:
    fault: Fault = raising(EmbedderUnreachable("Gone."))
    parts, _ = asked_by(corpus, embedder=put(corpus.embedder, "embed", fault))
    assert codes(look(parts, "apples")) == ["embedder_unreachable"]
    assert codes(look(replace(parts, embedder_for=lambda _: corpus.embedder), "apples")) == []


def test_an_answer_lives_as_long_as_it_may(corpus: SmallCorpus) -> None:
    times = [0.0]
    parts, queries = asked_by(corpus)
    parts = replace(parts, hot=HotQueries(results=10, ttl_ms=1_000, clock=lambda: times[-1]))
    for time, asked in ((0.0, 1), (0.9, 1), (1.1, 2)):
        times.append(time)
        look(parts, "apples", mode="dense")
        assert len(queries) == asked


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryCorpus]:
    made = MemoryCorpus(tmp_path)
    asyncio.run(made.create())
    yield made
    made.catalog.close()


def _mine(parts: LookupParts, **ids: str) -> list[str]:
    return keys(look(parts, "apples", corpus="memory", mode="dense", **{**OWNER, **ids}))


def test_an_answer_is_kept_for_its_owner_alone(memory: MemoryCorpus) -> None:
    write(memory, "m", "apples are mine")
    parts, queries = asked_by(memory)
    assert _mine(parts) == _mine(parts) == ["m#chunk-0"]
    assert len(queries) == 1
    for name in OWNER:
        assert _mine(parts, **{name: "other"}) == []
    assert len(queries) == 4


def test_an_answer_does_not_outlive_what_is_in_it(memory: MemoryCorpus) -> None:
    now = [5_000]
    write(memory, "soon", "apples until ten", expires_at=10_000)
    write(memory, "late", "apples until twenty", expires_at=20_000)
    parts, queries = asked_by(memory, clock=lambda: now[0])
    assert sorted(_mine(parts)) == ["late#chunk-0", "soon#chunk-0"]
    now[0] = 9_999
    assert (sorted(_mine(parts)), len(queries)) == (["late#chunk-0", "soon#chunk-0"], 1)
    now[0] = 10_000
    assert (_mine(parts), len(queries)) == (["late#chunk-0"], 2)
    now[0] = 20_000
    assert (_mine(parts), len(queries)) == ([], 3)
