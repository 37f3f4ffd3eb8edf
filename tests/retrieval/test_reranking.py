import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

from pincite.errors import RerankerTimeout
from pincite.retrieval.candidates import Candidate, to_table
from pincite.retrieval.rerank.blend import BlendReranker, blended
from pincite.retrieval.rerank.port import Passage, Ranked, Reranker
from pincite.retrieval.reranking import Reranked, combined, rerank_candidates
from pincite.retrieval.result import NO_RERANK, Rerank
from pincite.schemas.candidates import CANDIDATES

Make = Callable[..., Candidate]


class Scored:
    """Gives the scores of the test, or raises its error."""

    name = "scored"

    def __init__(self, answer: Sequence[float] | Exception) -> None:
        self._answer = answer
        self.asked: list[tuple[str, tuple[Passage, ...]]] = []

    async def rerank(
        self, query: str, passages: Sequence[Passage], top_k: int, timeout_s: float
    ) -> list[Ranked]:
        self.asked.append((query, tuple(passages)))
        if isinstance(self._answer, Exception):
            raise self._answer
        return [Ranked(index, score) for index, score in enumerate(self._answer)]

    async def close(self) -> None:
        """Nothing is open."""


class Hanging(Scored):
    """Never answers."""

    async def rerank(self, *args: Any) -> list[Ranked]:
        await asyncio.sleep(60)
        return []


def _rerank(
    reranker: Reranker | None, candidates: pa.Table, top_k: int = 20, timeout_s: float = 5.0
) -> Reranked:
    return asyncio.run(rerank_candidates(reranker, "apples", candidates, top_k, timeout_s))


def _three(make: Make) -> pa.Table:
    return to_table(
        make(doc_id, content=f"apples {doc_id}", source=f"docs/{doc_id}.md", score=score, dense=0.5)
        for doc_id, score in (("a", 0.9), ("b", 0.8), ("c", 0.7))
    )


def test_scores_are_set_and_the_order_is_left_to_the_sort(make: Make) -> None:
    table = _three(make)
    done = _rerank(Scored([0.1, 7.0, -2.0]), table)
    assert done.candidates["doc_id"].to_pylist() == ["a", "b", "c"]
    assert done.candidates["rerank"].to_pylist() == [0.1, 7.0, -2.0]
    assert done.candidates["score"].to_pylist() == [0.1, 7.0, -2.0]
    assert done.candidates.schema.equals(CANDIDATES.schema)
    others = [name for name in CANDIDATES.names if name not in ("rerank", "score")]
    assert done.candidates.select(others).equals(table.select(others))


def test_what_the_reranker_did_is_recorded(make: Make) -> None:
    record = _rerank(Scored([0.1, 7.0, -2.0]), _three(make)).record
    assert (record.enabled, record.applied, record.reranker) == (True, True, "scored")
    assert (record.top_source, record.fallback_reason) == ("docs/b.md", None)


def test_of_equal_scores_the_first_is_the_top(make: Make) -> None:
    assert _rerank(Scored([1.0, 2.0, 2.0]), _three(make)).record.top_source == "docs/b.md"


def test_the_table_that_came_in_stays_as_it_was(make: Make) -> None:
    table = _three(make)
    before = table.to_pylist()
    _rerank(Scored([1.0, 2.0, 3.0]), table)
    assert table.to_pylist() == before


def test_a_passage_is_what_the_candidate_says(make: Make) -> None:
    reranker = Scored([1.0])
    row = make("a", content="text", title="T", heading="T > H", dense=0.5, lexical=None)
    _rerank(reranker, to_table([row]))
    assert reranker.asked == [("apples", (Passage("text", "T", "T > H", 0.5, None),))]


def test_those_behind_the_first_stay_behind_in_their_order(make: Make) -> None:
    reranker = Scored([-5.0])
    done = _rerank(reranker, _three(make), top_k=1)
    assert len(reranker.asked[0][1]) == 1
    scores = done.candidates["score"].to_pylist()
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3
    assert done.record.applied


def test_without_a_reranker_nothing_is_touched(make: Make) -> None:
    table = _three(make)
    done = _rerank(None, table)
    assert done.candidates is table
    assert done.record == NO_RERANK
    assert done.record.enabled is False


def test_without_candidates_nobody_is_asked() -> None:
    reranker = Scored([])
    done = _rerank(reranker, CANDIDATES.empty())
    assert (reranker.asked, len(done.candidates)) == ([], 0)
    assert (done.record.enabled, done.record.applied) == (True, False)
    assert done.record.fallback_reason == "rerank_no_candidates"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (RerankerTimeout("Late."), "rerank_timeout"),
        (ValueError("odd"), "rerank_failed"),
        ([1.0, 2.0], "rerank_too_few"),
        ([1.0, 2.0, 3.0, 4.0], "rerank_too_many"),
        ([1.0, float("nan"), 2.0], "rerank_not_finite"),
    ],
)
def test_a_reranker_that_fails_leaves_every_score_as_it_was(
    make: Make, answer: Any, reason: str
) -> None:
    table = _three(make)
    done = _rerank(Scored(answer), table)
    assert done.candidates.equals(table)
    assert (done.record.applied, done.record.fallback_reason) == (False, reason)
    assert (done.record.enabled, done.record.reranker) == (True, "scored")
    assert done.record.top_source is None


@pytest.mark.parametrize("timeout_s", [0.05, 0.0])
def test_a_reranker_that_hangs_is_left_at_the_deadline(make: Make, timeout_s: float) -> None:
    table = _three(make)
    done = _rerank(Hanging([]), table, timeout_s=timeout_s)
    assert done.candidates.equals(table)
    assert done.record.fallback_reason == "rerank_timeout"


def test_the_embedded_reranker_scores_candidates(make: Make) -> None:
    table = to_table([make("a", content="pears", dense=0.5), make("b", content="apples")])
    done = _rerank(BlendReranker(), table)
    passages = [Passage("pears", "", "", 0.5, None), Passage("apples", "", "", None, None)]
    assert done.candidates["rerank"].to_pylist() == blended("apples", passages)
    assert done.record.reranker == "blend"


def _record(applied: bool, reason: str | None, latency_ms: int, name: str = "r") -> Rerank:
    return Rerank(True, applied, name, f"source {latency_ms}", reason, latency_ms)


def test_the_record_of_several_corpora_is_applied_where_it_was_anywhere() -> None:
    late, done = _record(False, "rerank_timeout", 900), _record(True, None, 40)
    assert combined([late, done]) == Rerank(True, True, "r", "source 40", "rerank_timeout", 900)
    assert combined([done, late]) == combined([late, done])


def test_the_first_of_several_reasons_is_told() -> None:
    records = [_record(False, "rerank_timeout", 5), _record(False, "rerank_failed", 7)]
    made = combined(records)
    assert (made.applied, made.fallback_reason, made.latency_ms) == (False, "rerank_timeout", 7)


@pytest.mark.parametrize("records", [[], [NO_RERANK], [NO_RERANK, NO_RERANK]])
def test_no_corpus_that_was_reranked_is_none(records: list[Rerank]) -> None:
    assert combined(records) == NO_RERANK


def test_a_corpus_that_was_not_reranked_says_nothing_about_the_others() -> None:
    done = _record(True, None, 40)
    assert combined([NO_RERANK, done]) == done
