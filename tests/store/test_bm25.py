from __future__ import annotations

import math
from collections import Counter

import pytest

from pincite.store.bm25 import K1, B, idf, scores, weight


def test_the_score_is_that_of_the_formula() -> None:
    rows = {
        "a": Counter(["x", "x", "y"]),
        "b": Counter(["y", "z", "z", "z", "z"]),
        "c": Counter("w"),
    }
    mean = 9 / 3
    x = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    y = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    def part(count: int, length: int) -> float:
        return count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean))

    found = scores("x y y", rows)
    assert found == pytest.approx(
        {"a": x * part(2, 3) + 2 * y * part(1, 3), "b": 2 * y * part(1, 5)}
    )


def test_no_words_and_no_rows_have_no_scores() -> None:
    assert scores("x", {}) == {}
    assert scores("", {"a": Counter("x")}) == {}
    assert scores("x", {"a": Counter()}) == {}


def test_rare_words_are_worth_more_and_none_less_than_nothing() -> None:
    worth = [idf(1_000, holding) for holding in (0, 1, 10, 500, 1_000, 2_000)]
    assert worth == sorted(worth, reverse=True)
    assert worth[-1] > 0


def test_occurrences_count_less_and_less_and_less_in_long_rows() -> None:
    counts = [weight(count, 100, 100) for count in (1, 2, 4, 1_000)]
    assert counts == sorted(counts)
    assert counts[-1] < K1 + 1
    assert weight(1, 400, 100) < weight(1, 100, 100) < weight(1, 25, 100)
