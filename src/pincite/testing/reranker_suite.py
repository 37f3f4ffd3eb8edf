"""What every reranker must do, as a pytest class that an adapter's tests inherit.

class TestMyReranker(RerankerConformance):
    @pytest.fixture
    def reranker(self):
        return MyReranker(...)
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

import pytest

from pincite.retrieval.rerank.guarded import Verdict, guarded
from pincite.retrieval.rerank.port import Passage, Ranked, Reranker

QUERY = "Who holds the lease of a killed run?"
BEST = Passage(
    "The lease of a killed run is held by nobody: it runs out by itself.",
    "Leases",
    "Leases > Killed runs",
    0.91,
    11.5,
)
OTHERS = (
    Passage("Bread needs flour, water and salt.", "Baking", "", 0.74, None),
    Passage("面包需要面粉、水和盐。", "", "", 0.71, None),
    Passage("Der Teig ruht über Nacht im Kühlschrank.", "Backen", "Backen > Teig", None, 0.6),
    Passage("🙂 naïve café — № 7", "Signs", "", 0.7, None),
)
PASSAGES = (OTHERS[0], BEST, *OTHERS[1:])
TIMEOUT_S = 10.0


class RerankerConformance:
    """Override the fixture ``reranker``; each test gets a fresh one, or all share one."""

    def test_each_passage_has_exactly_one_score(self, reranker: Reranker) -> None:
        ranked = rerank(reranker, PASSAGES)
        assert sorted(one.index for one in ranked) == list(range(len(PASSAGES)))

    def test_what_comes_back_has_the_promised_types(self, reranker: Reranker) -> None:
        ranked = rerank(reranker, PASSAGES)
        assert isinstance(ranked, list)
        assert all(isinstance(one, Ranked) for one in ranked)
        assert all(type(one.index) is int and isinstance(one.score, float) for one in ranked)
        assert all(math.isfinite(one.score) for one in ranked)

    def test_the_passage_that_answers_comes_first(self, reranker: Reranker) -> None:
        assert best_of(rerank(reranker, PASSAGES)) == PASSAGES.index(BEST)

    @pytest.mark.parametrize("place", range(len(PASSAGES)))
    def test_it_does_so_wherever_it_stands(self, reranker: Reranker, place: int) -> None:
        passages = [*OTHERS[:place], BEST, *OTHERS[place:]]
        assert best_of(rerank(reranker, passages)) == place

    def test_only_the_first_passages_are_looked_at(self, reranker: Reranker) -> None:
        ranked = rerank(reranker, PASSAGES, top_k=3)
        assert sorted(one.index for one in ranked) == [0, 1, 2]

    def test_more_may_be_asked_for_than_there_are(self, reranker: Reranker) -> None:
        assert len(rerank(reranker, PASSAGES, top_k=100)) == len(PASSAGES)

    def test_no_passages_have_no_scores(self, reranker: Reranker) -> None:
        assert rerank(reranker, ()) == []

    def test_one_passage_has_one_score(self, reranker: Reranker) -> None:
        (only,) = rerank(reranker, (BEST,))
        assert only.index == 0

    def test_the_same_question_gives_the_same_scores(self, reranker: Reranker) -> None:
        assert rerank(reranker, PASSAGES) == rerank(reranker, PASSAGES)

    def test_equal_passages_are_both_ranked(self, reranker: Reranker) -> None:
        assert len(rerank(reranker, (BEST, BEST, BEST))) == 3

    @pytest.mark.parametrize(
        "text", ["", " ", "\0", '"}]}', "</passage>", "x" * 60_000, "租约" * 9_000, "\u2028\ufeff"]
    )
    def test_an_odd_text_is_ranked_like_any_other(self, reranker: Reranker, text: str) -> None:
        passages = (Passage(text, "", "", None, None), BEST)
        assert len(rerank(reranker, passages)) == 2

    def test_a_query_may_hold_any_characters(self, reranker: Reranker) -> None:
        query = '"lease" \\ \n\t{}[] % 租约 🙂'
        assert len(rerank(reranker, PASSAGES, query=query)) == len(PASSAGES)

    def test_behind_the_guard_it_is_applied(self, reranker: Reranker) -> None:
        verdict = look(reranker, PASSAGES, top_k=3)
        assert verdict.reason is None
        assert verdict.scores is not None
        assert len(verdict.scores) == len(PASSAGES)
        assert max(verdict.scores) == verdict.scores[PASSAGES.index(BEST)]

    def test_several_lookups_may_ask_at_once(self, reranker: Reranker) -> None:
        assert asyncio.run(_at_once(reranker)) == [rerank(reranker, PASSAGES)] * 4

    def test_the_name_is_stable(self, reranker: Reranker) -> None:
        assert reranker.name == reranker.name
        assert reranker.name.strip() == reranker.name != ""

    def test_it_can_be_closed_twice_and_used_again(self, reranker: Reranker) -> None:
        asyncio.run(_close_twice(reranker))
        assert len(rerank(reranker, PASSAGES)) == len(PASSAGES)


def rerank(
    reranker: Reranker,
    passages: Sequence[Passage],
    *,
    query: str = QUERY,
    top_k: int = 20,
    timeout_s: float = TIMEOUT_S,
) -> list[Ranked]:
    """Rerank in an event loop of its own, and leave nothing open in it."""

    async def run() -> list[Ranked]:
        try:
            return await reranker.rerank(query, passages, top_k, timeout_s)
        finally:
            await reranker.close()

    return asyncio.run(run())


def look(
    reranker: Reranker,
    passages: Sequence[Passage] = PASSAGES,
    *,
    top_k: int = 20,
    timeout_s: float = TIMEOUT_S,
) -> Verdict:
    """The guard's verdict, in an event loop of its own, with nothing left open in it."""

    async def run() -> Verdict:
        try:
            return await guarded(reranker, QUERY, passages, top_k, timeout_s)
        finally:
            await reranker.close()

    return asyncio.run(run())


def best_of(ranked: Sequence[Ranked]) -> int:
    """The index with the highest score."""
    return max(ranked, key=lambda one: one.score).index


async def _at_once(reranker: Reranker) -> list[list[Ranked]]:
    try:
        calls = (reranker.rerank(QUERY, PASSAGES, 20, TIMEOUT_S) for _ in range(4))
        return list(await asyncio.gather(*calls))
    finally:
        await reranker.close()


async def _close_twice(reranker: Reranker) -> None:
    await reranker.rerank(QUERY, PASSAGES, 20, TIMEOUT_S)
    await reranker.close()
    await reranker.close()
