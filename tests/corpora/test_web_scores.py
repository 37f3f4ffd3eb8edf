"""Parts of a web result's score: monotone, in [0, 1], of any scale."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.corpora.web_scores import blended, fits, rank_part

SCORES = st.lists(st.none() | st.floats(allow_nan=True, allow_infinity=True), max_size=8)


def test_rank_part_falls_with_the_rank_and_is_nothing_without_one() -> None:
    parts = [rank_part(rank) for rank in range(1, 101)]
    assert parts == sorted(parts, reverse=True)
    assert len(set(parts)) == 100
    assert (parts[0], rank_part(0)) == (1.0, 0.0)
    assert 0 < rank_part(1_000_000) < parts[-1]


@given(SCORES)
def test_fits_keep_the_order_and_stay_in_their_range(scores) -> None:
    found = fits(scores)
    pairs = [(s, f) for s, f in zip(scores, found, strict=True) if f is not None]
    assert all(0 <= fit <= 1 for _, fit in pairs)
    assert [f is None for f in found] == [s is None or not math.isfinite(s) for s in scores]
    ordered = sorted(pairs)
    assert [fit for _, fit in ordered] == sorted(fit for _, fit in pairs)
    assert not pairs or max(fit for _, fit in pairs) == 1


@pytest.mark.parametrize(
    "scores", [[0.9, 0.5, -0.2], [0.18, 0.16, 0.03], [8.1, 3.0, -11.4], [-1.0, -2.0, -30.0]]
)
def test_scale_does_not_matter(scores: list[float]) -> None:
    found = fits(scores)
    assert found[0] == 1
    assert found[2] == pytest.approx(0)
    assert fits([1_000 * score for score in scores]) == pytest.approx(found)


def test_scores_that_are_nearly_equal_stay_nearly_equal() -> None:
    best, other = fits([0.90, 0.89])
    assert best == 1
    assert other == pytest.approx(1 - 0.01 / 0.09)


def test_equal_scores_are_all_the_best() -> None:
    assert fits([0.0, 0.0, None]) == [1.0, 1.0, None]
    assert fits([]) == []


UNIT = st.floats(0, 1)


@given(UNIT, UNIT, UNIT, UNIT, UNIT)
def test_blend_is_a_mean_of_its_parts(fit, trust, rank, trust_weight, rank_share) -> None:
    weights = (trust_weight, (1 - trust_weight) * rank_share)
    score = blended(fit, trust, rank, weights)
    parts = (fit, trust, rank)
    assert min(parts) - 1e-9 <= score <= max(parts) + 1e-9


def test_weights_are_shares_of_the_score() -> None:
    assert blended(0.5, 0.9, 1.0, (0.2, 0.05)) == pytest.approx(0.75 * 0.5 + 0.2 * 0.9 + 0.05)
    assert blended(0.5, 0.9, 1.0, (0, 0)) == 0.5
