"""The rerank stage in a lookup: applied, or the order kept and a code that says why."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from pincite.errors import RerankerUnreachable
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.rerank.blend import BlendReranker
from pincite.retrieval.rerank.config import RerankerConfig
from pincite.retrieval.rerank.http import HttpReranker
from pincite.retrieval.rerank.port import Passage, Ranked
from pincite.retrieval.result import LookupResult
from pincite.testing.faults import Fault, changing, hanging, put, raising
from pincite.testing.lookups import (
    PATIENT_MS,
    codes,
    considered,
    fruit_corpus,
    keys,
    look,
    parts_of,
    write,
)
from pincite.testing.rerank_endpoint import Behaviour, RerankEndpoint, answering, failing, slow
from pincite.testing.small_corpus import SmallCorpus


class Backwards:
    """Scores passages by their place, the last one highest."""

    name = "backwards"

    def __init__(self) -> None:
        self.seen: list[Passage] = []

    async def rerank(
        self, query: str, passages: Sequence[Passage], top_k: int, timeout_s: float
    ) -> list[Ranked]:
        self.seen = list(passages)
        return [Ranked(place, float(place)) for place in range(len(passages))]

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCorpus]:
    with fruit_corpus(tmp_path_factory.mktemp("rerank")) as made:
        for number in range(5):
            words = "apples " * (5 - number) + "and other fruit " * number
            write(made, f"d{number}", words.strip(), source=f"docs/d{number}.md")
        yield made


def ask(corpus: SmallCorpus, reranker: Any, **options: Any) -> LookupResult:
    return look(parts_of(corpus, reranker=reranker), "apples", **{"rerank": True, **options})


def test_the_rerankers_scores_sort_and_are_shown(corpus: SmallCorpus) -> None:
    plain, reranked = ask(corpus, None), ask(corpus, Backwards())
    assert keys(plain)[0] == "d0#chunk-0"
    scores = [block.candidate.score for block in reranked.blocks]
    assert scores == [block.candidate.rerank for block in reranked.blocks]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == len(considered(reranked)) - 1
    assert keys(reranked)[0] != keys(plain)[0]
    assert considered(reranked) == considered(plain)
    assert reranked.rerank.as_dict() | {"latencyMs": 0} == {
        "enabled": True,
        "applied": True,
        "reranker": "backwards",
        "topSource": reranked.blocks[0].candidate.source,
        "fallbackReason": None,
        "latencyMs": 0,
    }


def test_the_reranker_sees_each_candidate_with_what_the_legs_say(corpus: SmallCorpus) -> None:
    reranker = Backwards()
    ask(corpus, reranker, mode="hybrid")
    fruit = next(passage for passage in reranker.seen if passage.text == "apples are red")
    assert (fruit.title, fruit.dense is None, fruit.lexical is None) == ("Fruit", False, False)
    assert len(reranker.seen) == 8


def test_what_is_behind_the_first_keeps_its_order_behind_them(corpus: SmallCorpus) -> None:
    plain = ask(corpus, None, return_n=8, max_chunks_per_document=9)
    reranked = ask(corpus, Backwards(), rerank_top_k=3, return_n=8, max_chunks_per_document=9)
    assert keys(reranked) == [*reversed(keys(plain)[:3]), *keys(plain)[3:]]


def test_equal_scores_of_a_reranker_are_in_the_order_of_their_keys(corpus: SmallCorpus) -> None:
    same = changing(lambda ranked: [Ranked(one.index, 1.0) for one in ranked])
    result = ask(corpus, put(Backwards(), "rerank", same), return_n=8, max_chunks_per_document=9)
    assert keys(result) == sorted(considered(result))
    assert keys(result) != keys(ask(corpus, None, return_n=8, max_chunks_per_document=9))


def test_the_embedded_reranker_is_applied(corpus: SmallCorpus) -> None:
    result = ask(corpus, BlendReranker(), mode="hybrid")
    assert (result.rerank.applied, result.rerank.reranker, codes(result)) == (True, "blend", [])
    assert all(block.candidate.rerank is not None for block in result.blocks)


@pytest.mark.parametrize(("reranker", "wanted"), [(None, True), (Backwards(), False)])
def test_without_a_reranker_or_the_wish_nothing_is_reranked(
    corpus: SmallCorpus, reranker: Any, wanted: bool
) -> None:
    result = ask(corpus, reranker, rerank=wanted)
    assert (result.rerank.enabled, result.rerank.applied) == (False, False)
    assert (codes(result), keys(result)[0]) == ([], "d0#chunk-0")


def test_nothing_found_is_nothing_to_rerank_and_no_degradation(corpus: SmallCorpus) -> None:
    result = ask(corpus, Backwards(), kb_scope="nobody")
    assert (result.rerank.applied, result.rerank.fallback_reason, codes(result)) == (
        False,
        "rerank_no_candidates",
        [],
    )


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (raising(RerankerUnreachable("Gone.")), "rerank_unreachable"),
        (raising(RuntimeError("odd")), "rerank_failed"),
        (hanging(), "rerank_timeout"),
    ],
    ids=["unreachable", "odd", "hanging"],
)
def test_a_reranker_that_fails_leaves_the_order_as_it_was(
    corpus: SmallCorpus, fault: Fault, code: str
) -> None:
    plain = ask(corpus, None)
    failed = ask(corpus, put(Backwards(), "rerank", fault), rerank_timeout_ms=50)
    assert failed.results == plain.results
    assert [(one.stage, one.code) for one in failed.trace.degradations] == [("rerank", code)]
    assert (failed.rerank.enabled, failed.rerank.applied) == (True, False)
    assert (failed.rerank.fallback_reason, failed.rerank.reranker) == (code, "backwards")


@pytest.mark.parametrize(
    ("behaviour", "timeout_ms", "code"),
    [
        (answering, 5_000, None),
        (failing(503), 500, "rerank_unreachable"),
        (failing(401), 5_000, "rerank_refused"),
        (slow(5), 200, "rerank_timeout"),
    ],
    ids=["well", "503", "401", "slow"],
)
def test_an_endpoint_reranks_or_is_missed_out_loud(
    corpus: SmallCorpus, behaviour: Behaviour, timeout_ms: int, code: str | None
) -> None:
    async def run(url: str) -> LookupResult:
        reranker = HttpReranker(RerankerConfig("http", base_url=url))
        request = LookupRequest(
            "plums are blue", rerank=True, rerank_timeout_ms=timeout_ms, timeout_ms=PATIENT_MS
        )
        try:
            return await lookup_direct(request, parts_of(corpus, reranker=reranker))
        finally:
            await reranker.close()

    with RerankEndpoint(otherwise=behaviour) as endpoint:
        result = asyncio.run(run(endpoint.url))
    assert codes(result) == ([] if code is None else [code])
    assert result.rerank.applied == (code is None)
    assert keys(result)[0] == "fruit#chunk-2"
