import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pincite.retrieval.hot import HotQueries

ONE = np.ones(3, np.float32)
TWO = np.full(3, 2, np.float32)


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_vector_is_that_of_its_query_in_its_space() -> None:
    hot = HotQueries(vectors=4)
    hot.keep_vector("space", "query", ONE)
    hot.keep_vector("other", "query", TWO)
    assert hot.vector("space", "query") is ONE
    assert hot.vector("other", "query") is TWO
    assert hot.vector("space", "query ") is None
    assert hot.vector("spacequery", "") is None


def test_an_answer_is_that_of_its_key() -> None:
    hot = HotQueries(results=4)
    hot.keep_result(("request", 1), "of revision 1")
    hot.keep_result(("request", 2), "of revision 2")
    assert hot.result(("request", 1), 0) == "of revision 1"
    assert hot.result(("request", 2), 0) == "of revision 2"
    assert hot.result(("request", 3), 0) is None


def test_a_newer_answer_takes_the_place_of_the_older() -> None:
    hot = HotQueries(results=4)
    hot.keep_result("key", "older")
    hot.keep_result("key", "newer")
    assert hot.result("key", 0) == "newer"


def test_vectors_and_answers_do_not_push_each_other_out() -> None:
    hot = HotQueries(vectors=1, results=1)
    hot.keep_vector("s", "q", ONE)
    hot.keep_result("key", "answer")
    assert hot.vector("s", "q") is ONE
    assert hot.result("key", 0) == "answer"


def test_no_more_is_kept_than_may_be_and_what_was_asked_last_stays() -> None:
    hot = HotQueries(results=2)
    hot.keep_result(1, "one")
    hot.keep_result(2, "two")
    assert hot.result(1, 0) == "one"
    hot.keep_result(3, "three")
    assert [hot.result(key, 0) for key in (1, 2, 3)] == ["one", None, "three"]


def test_nothing_is_kept_by_default_or_where_the_size_is_0() -> None:
    for hot in (HotQueries(), HotQueries(vectors=0, results=0)):
        hot.keep_vector("s", "q", ONE)
        hot.keep_result("key", "answer")
        assert hot.vector("s", "q") is None
        assert hot.result("key", 0) is None


def test_the_time_to_live_counts_from_when_it_was_kept() -> None:
    clock = Clock()
    hot = HotQueries(vectors=4, results=4, ttl_ms=1_500, clock=clock)
    hot.keep_vector("s", "q", ONE)
    hot.keep_result("key", "answer")
    clock.now += 1.4
    assert hot.vector("s", "q") is ONE
    assert hot.result("key", 0) == "answer"
    clock.now += 0.2
    assert hot.vector("s", "q") is None
    assert hot.result("key", 0) is None


def test_what_is_kept_again_lives_again() -> None:
    clock = Clock()
    hot = HotQueries(results=4, ttl_ms=1_000, clock=clock)
    hot.keep_result("key", "first")
    clock.now += 0.9
    hot.keep_result("key", "second")
    clock.now += 0.9
    assert hot.result("key", 0) == "second"


def test_hits_and_misses_are_counted_apart_for_vectors_and_answers() -> None:
    clock = Clock()
    hot = HotQueries(vectors=4, results=4, ttl_ms=1_000, clock=clock)
    assert set(hot.counts().values()) == {0}
    hot.vector("s", "q")
    hot.keep_vector("s", "q", ONE)
    hot.vector("s", "q")
    hot.vector("s", "q")
    hot.keep_result("key", "answer")
    hot.result("key", 0)
    clock.now += 2.0
    hot.result("key", 0)
    assert hot.counts() == {
        "vectors_hits": 2,
        "vectors_misses": 1,
        "results_hits": 1,
        "results_misses": 1,
    }


def test_a_cache_that_keeps_nothing_counts_misses() -> None:
    hot = HotQueries()
    hot.keep_result("key", "answer")
    hot.result("key", 0)
    assert (hot.counts()["results_hits"], hot.counts()["results_misses"]) == (0, 1)


@pytest.mark.parametrize("key", [("s", ["list"]), {"a": 1}])
def test_a_key_that_may_change_is_refused(key: object) -> None:
    with pytest.raises(TypeError):
        HotQueries(results=1).keep_result(key, "answer")  # type: ignore[arg-type]


def test_threads_may_ask_and_keep_at_once() -> None:
    hot = HotQueries(vectors=8, results=8)
    threads, rounds = 8, 500
    together = threading.Barrier(threads)

    def work(number: int) -> int:
        together.wait(timeout=10)
        wrong = 0
        for turn in range(rounds):
            key = (number * 7 + turn) % 24
            wrong += hot.result(key, 0) not in (None, key)
            hot.keep_result(key, key)
            # Asked again at once: whatever the threads' order, much of this is at hand.
            wrong += hot.result(key, 0) not in (None, key)
            hot.vector("s", str(key))
            hot.keep_vector("s", str(key), ONE)
        return wrong

    with ThreadPoolExecutor(threads) as pool:
        assert sum(pool.map(work, range(threads))) == 0
    counts = hot.counts()
    assert counts["results_hits"] + counts["results_misses"] == 2 * threads * rounds
    assert counts["vectors_hits"] + counts["vectors_misses"] == threads * rounds
    assert counts["results_hits"] > 0
    assert sum(hot.result(key, 0) is not None for key in range(24)) == 8


def test_an_answer_is_not_given_from_the_moment_that_something_in_it_is_gone() -> None:
    hot = HotQueries(results=4)
    hot.keep_result("key", "answer", until_ms=1_000)
    assert hot.result("key", 999) == "answer"
    assert hot.result("key", 1_000) is None
    assert hot.counts()["results_hits"] == 1
    assert hot.counts()["results_misses"] == 1
