"""The fence around the calls of a lookup."""

import asyncio
import time
from typing import Any

import pytest

from pincite.errors import (
    CatalogUnreachable,
    ContractViolation,
    EmbedderChanged,
    EmbedderUnreachable,
    EmbeddingInvalid,
    RequestInvalid,
    StoreRejected,
    StoreUnreachable,
)
from pincite.retrieval import fences
from pincite.retrieval.candidates import finite
from pincite.retrieval.in_time import in_time
from pincite.retrieval.trace import Deadline
from pincite.schemas.candidates import CANDIDATES

SOON = Deadline(50)


async def never() -> Any:
    await asyncio.sleep(60)


async def fails(error: BaseException) -> Any:
    raise error


async def gives(value: Any) -> Any:
    return value


def run(work: Any) -> Any:
    return asyncio.run(work)


def test_what_comes_in_time_comes_through() -> None:
    assert run(in_time(gives(5), 1.0)) == 5
    # An answer that needs no waiting is never late.
    assert run(in_time(gives(5), 0.0)) == 5


def test_what_does_not_come_is_left() -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        run(in_time(never(), 0.05))
    assert time.monotonic() - began < 5


def test_a_call_that_cancels_itself_is_a_failure_of_the_call() -> None:
    with pytest.raises(RuntimeError, match="cancelled itself"):
        run(in_time(fails(asyncio.CancelledError()), 1.0))


def test_a_caller_that_is_cancelled_is_cancelled() -> None:
    async def cancelled() -> None:
        task = asyncio.ensure_future(in_time(never(), 30))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        run(cancelled())


def test_a_stage_that_can_be_done_without_leaves_time_for_the_others() -> None:
    assert 4.0 < fences.short_s(Deadline(10_000)) <= 5.0
    assert fences.short_s(Deadline(1)) == fences.LEAST_S


@pytest.mark.parametrize("call", [fences.pinned, fences.compared])
def test_a_catalogue_that_fails_in_any_way_is_out_of_reach(call: Any) -> None:
    for work in (never(), fails(KeyError("x")), fails(CatalogUnreachable("Gone."))):
        with pytest.raises(CatalogUnreachable):
            run(call(work, Deadline(50)))


def test_what_the_user_must_put_right_is_told_as_it_is() -> None:
    with pytest.raises(EmbedderChanged):
        run(fences.pinned(fails(EmbedderChanged("Another.")), SOON))
    with pytest.raises(RequestInvalid):
        run(fences.embedded(fails(RequestInvalid("No.")), SOON))
    with pytest.raises(RequestInvalid):
        run(fences.searched(fails(RequestInvalid("No.")), SOON))


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (never, EmbedderUnreachable),
        (lambda: fails(KeyError("x")), EmbeddingInvalid),
        (lambda: fails(asyncio.CancelledError()), EmbeddingInvalid),
        (lambda: fails(EmbedderUnreachable("Gone.")), EmbedderUnreachable),
    ],
)
def test_an_embedder_that_fails_gives_its_error_in_place_of_a_vector(
    work: Any, error: type[Exception]
) -> None:
    given = run(fences.embedded(work(), Deadline(50)))
    assert given.vector is None
    assert type(given.error) is error


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (never, StoreUnreachable),
        (lambda: fails(KeyError("x")), StoreRejected),
        (lambda: fails(ContractViolation("x")), StoreRejected),
        (lambda: gives(None), StoreRejected),
    ],
)
def test_a_search_that_fails_is_an_error_of_the_store(work: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        run(fences.searched(work(), Deadline(50)))


def test_scores_that_are_no_numbers_are_no_scores(make: Any) -> None:
    candidate = make("a", 0, score=float("nan"), dense=float("inf"), lexical=2.0)
    table = finite(CANDIDATES.from_rows([vars(candidate)]))
    assert table.schema == CANDIDATES.schema
    row = table.to_pylist()[0]
    assert (row["score"], row["dense"], row["lexical"], row["trust"]) == (None, None, 2.0, None)
    assert finite(table) is table


def test_a_corpus_may_reorder_candidates_and_lose_none(make: Any) -> None:
    table = CANDIDATES.from_rows([vars(make("a", 0)), vars(make("b", 0))])
    turned = run(fences.adjusted(gives(table.take([1, 0])), table, SOON))
    assert turned["doc_id"].to_pylist() == ["b", "a"]
    for lie in (table.slice(0, 1), table.take([0, 0])):
        with pytest.raises(ContractViolation):
            run(fences.adjusted(gives(lie), table, SOON))
