import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

import pytest

from pincite.errors import (
    PinciteError,
    RerankerRefused,
    RerankerTimeout,
    RerankerUnreachable,
    RerankingInvalid,
)
from pincite.retrieval.rerank.guarded import Verdict, guarded
from pincite.retrieval.rerank.port import Passage, Ranked

PASSAGES = tuple(Passage(f"text {n}", "", "", None, None) for n in range(5))
Answer = Callable[[tuple[Any, ...]], Any]


class Scripted:
    """A reranker in the process that does what it is told."""

    name = "scripted"

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.calls: list[tuple[Any, ...]] = []

    async def rerank(self, *call: Any) -> Any:
        self.calls.append(call)
        answer = self._answer(call)
        return await answer if asyncio.iscoroutine(answer) else answer

    async def close(self) -> None:
        """Nothing is open."""


def falling(call: tuple[Any, ...]) -> list[Ranked]:
    """The passages in reverse."""
    return [Ranked(index, float(index)) for index in range(len(call[1]))]


def raising(error: BaseException) -> Answer:
    def answer(call: tuple[Any, ...]) -> None:
        raise error

    return answer


def look(answer: Answer, top_k: int = 20, timeout_s: float = 5.0) -> Verdict:
    return asyncio.run(guarded(Scripted(answer), "q", PASSAGES, top_k, timeout_s))


def test_a_good_answer_is_applied() -> None:
    verdict = look(falling)
    assert verdict == Verdict((0.0, 1.0, 2.0, 3.0, 4.0), None, verdict.latency_ms)


def test_only_the_first_are_sent_and_the_rest_follow_in_their_order() -> None:
    reranker = Scripted(falling)
    verdict = asyncio.run(guarded(reranker, "q", PASSAGES, 3, 1.0))
    assert reranker.calls == [("q", PASSAGES[:3], 3, 1.0)]
    assert verdict.scores == (0.0, 1.0, 2.0, -1.0, -2.0)


@pytest.mark.parametrize("top_k", [0, -3, 1])
def test_at_least_one_is_sent(top_k) -> None:
    assert look(falling, top_k).scores == (0.0, -1.0, -2.0, -3.0, -4.0)


def test_a_ranking_of_more_than_was_sent_is_too_many() -> None:
    every = [Ranked(index, 1.0) for index in range(len(PASSAGES))]
    assert look(lambda call: every, top_k=3).reason == "rerank_too_many"


def test_nobody_is_asked_about_nothing() -> None:
    reranker = Scripted(falling)
    verdict = asyncio.run(guarded(reranker, "q", (), 20, 1.0))
    assert (verdict, reranker.calls) == (Verdict((), None, 0), [])


@pytest.mark.parametrize("left", [0.0, -1.0, float("nan")])
def test_nobody_is_asked_without_time(left) -> None:
    reranker = Scripted(falling)
    verdict = asyncio.run(guarded(reranker, "q", PASSAGES, 20, left))
    assert (verdict.scores, verdict.reason, reranker.calls) == (None, "rerank_timeout", [])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TimeoutError(), "rerank_timeout"),
        (RerankerTimeout("x"), "rerank_timeout"),
        (RerankerUnreachable("x"), "rerank_unreachable"),
        (RerankerRefused("x"), "rerank_refused"),
        (RerankingInvalid("x"), "rerank_malformed"),
        (PinciteError("x"), "rerank_failed"),
        (ConnectionRefusedError(), "rerank_failed"),
        (ValueError("x"), "rerank_failed"),
        (MemoryError(), "rerank_failed"),
        (RecursionError(), "rerank_failed"),
        (StopAsyncIteration(), "rerank_failed"),
        (ExceptionGroup("x", [ValueError()]), "rerank_failed"),
        (asyncio.CancelledError(), "rerank_failed"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else value,
)
def test_an_exception_becomes_a_code(error, code) -> None:
    verdict = look(raising(error))
    assert (verdict.scores, verdict.reason) == (None, code)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (lambda call: None, "rerank_malformed"),
        (lambda call: falling(call)[:-1], "rerank_too_few"),
        (lambda call: [*falling(call), Ranked(0, 1.0)], "rerank_too_many"),
        (lambda call: [*falling(call)[:-1], Ranked(5, 1.0)], "rerank_index_out_of_range"),
        (lambda call: [*falling(call)[:-1], Ranked(0, 1.0)], "rerank_index_repeated"),
        (lambda call: [*falling(call)[:-1], Ranked(4, float("nan"))], "rerank_not_finite"),
        (lambda call: [*falling(call)[:-1], Ranked(True, 1.0)], "rerank_malformed"),
    ],
)
def test_a_lie_becomes_a_code(answer, code) -> None:
    verdict = look(answer)
    assert (verdict.scores, verdict.reason) == (None, code)


def test_a_reranker_that_is_no_coroutine_fails_softly() -> None:
    class Plain(Scripted):
        def rerank(self, *call: Any) -> Any:
            return falling(call)

    verdict = asyncio.run(guarded(Plain(falling), "q", PASSAGES, 20, 1.0))
    assert verdict.reason == "rerank_failed"


def test_one_that_forgets_its_deadline_is_fenced() -> None:
    started = time.monotonic()
    verdict = look(lambda call: asyncio.sleep(5), timeout_s=0.05)
    assert (verdict.scores, verdict.reason) == (None, "rerank_timeout")
    assert time.monotonic() - started < 1.0
    assert 40 <= verdict.latency_ms < 1000


def test_cancelling_the_caller_passes_through() -> None:
    async def run() -> None:
        call = guarded(Scripted(lambda _: asyncio.sleep(5)), "q", PASSAGES, 20, 5.0)
        task = asyncio.create_task(call)
        await asyncio.sleep(0.02)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())


def test_a_cancelled_task_inside_of_the_reranker_does_not_cancel_the_lookup() -> None:
    async def inner(call: tuple[Any, ...]) -> None:
        task = asyncio.create_task(asyncio.sleep(5))
        await asyncio.sleep(0)
        task.cancel()
        await task

    async def run() -> tuple[Verdict, str]:
        return await guarded(Scripted(inner), "q", PASSAGES, 20, 5.0), "the lookup goes on"

    verdict, after = asyncio.run(run())
    assert (verdict.reason, after) == ("rerank_failed", "the lookup goes on")


def test_the_fence_leaves_an_outer_deadline_alone() -> None:
    async def run() -> Verdict:
        async with asyncio.timeout(5):
            return await guarded(Scripted(lambda _: asyncio.sleep(5)), "q", PASSAGES, 20, 0.02)

    assert asyncio.run(run()).reason == "rerank_timeout"


def test_an_outer_deadline_wins_over_the_fence() -> None:
    async def run() -> None:
        async with asyncio.timeout(0.02):
            await guarded(Scripted(lambda _: asyncio.sleep(5)), "q", PASSAGES, 20, 5.0)

    with pytest.raises(TimeoutError):
        asyncio.run(run())


def test_what_is_sent_cannot_be_changed_under_the_caller() -> None:
    given = list(PASSAGES)

    def answer(call: tuple[Any, ...]) -> Any:
        call[1].clear()

    verdict = asyncio.run(guarded(Scripted(answer), "q", given, 20, 1.0))
    assert verdict.reason == "rerank_failed"
    assert given == list(PASSAGES)


def test_the_log_has_the_code_and_no_words_of_the_error(caplog) -> None:
    with caplog.at_level(logging.DEBUG):
        look(raising(ValueError("a private passage")))
    (record,) = [record for record in caplog.records if record.name.startswith("pincite.")]
    assert record.getMessage() == "rerank not applied: rerank_failed (ValueError)"
    assert vars(record)["reason"] == "rerank_failed"
    assert "private" not in caplog.text
