"""Cuts of cosines: never more lost than allowed, whatever the values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.evaluation.calibration.cuts import (
    DIGITS,
    allowed,
    at_or_over,
    best_difference,
    highest_cut,
    rounded_down,
)

# Close to each other, so that ties and values within one step of rounding come up.
COSINES = st.one_of(
    st.floats(-1, 1, allow_nan=False, width=32),
    st.sampled_from([-1.0, 0.0, 0.7, 0.86999, 0.87, 0.8700001, 1.0]),
)
LISTS = st.lists(COSINES, min_size=1, max_size=60)
SHARES = st.one_of(
    st.floats(0, 0.999, allow_nan=False), st.sampled_from([0.0, 0.05, 0.1, 0.29, 0.5])
)


def lost(values: list[float], cut: float) -> int:
    return len(values) - at_or_over(values, cut)


@given(LISTS, SHARES)
def test_a_cut_loses_no_more_than_allowed_rounded_or_not(values, share):
    cut = highest_cut(values, share)
    assert lost(values, rounded_down(cut)) <= lost(values, cut) <= allowed(share, len(values))
    assert lost(values, cut) / len(values) <= share + 1e-12


@given(LISTS, SHARES)
def test_a_higher_cut_would_lose_more(values, share):
    cut = highest_cut(values, share)
    above = [value for value in values if value > cut]
    if above:
        assert lost(values, min(above)) > allowed(share, len(values))


@given(LISTS, SHARES, SHARES)
def test_to_allow_more_never_lowers_the_cut(values, one, other):
    less, more = sorted((one, other))
    assert highest_cut(values, less) <= highest_cut(values, more)


@given(LISTS, SHARES, st.randoms(use_true_random=False))
def test_order_does_not_matter(values, share, random):
    mixed = random.sample(values, len(values))
    assert highest_cut(mixed, share) == highest_cut(values, share)
    half = len(values) // 2
    sizes = (len(values), half)
    assert best_difference(mixed, values[:half], *sizes) == best_difference(
        values, values[:half][::-1], *sizes
    )


@given(COSINES)
def test_rounding_goes_down_by_less_than_a_step(value):
    assert 0 <= value - rounded_down(value) < 10**-DIGITS + 1e-12


@given(LISTS, LISTS)
def test_no_cut_has_a_greater_difference(above, below):
    sizes = len(above), len(below)

    def difference(cut: float) -> float:
        return at_or_over(above, cut) / sizes[0] - at_or_over(below, cut) / sizes[1]

    best = best_difference(above, below, *sizes)
    greatest = max(difference(cut) for cut in {*above, *below})
    if best is None:
        assert greatest <= 1e-9
    else:
        assert difference(best) == pytest.approx(greatest)


@pytest.mark.parametrize(
    ("share", "of", "number"), [(0.29, 100, 29), (0.05, 20, 1), (0.05, 19, 0), (0, 9, 0)]
)
def test_a_share_is_taken_as_it_is_written(share, of, number):
    assert allowed(share, of) == number


def test_the_share_may_be_of_more_than_the_values():
    values = [0.1, 0.2, 0.3, 0.4]
    assert highest_cut(values, 0.2) == 0.1
    assert highest_cut(values, 0.2, of=10) == 0.3
    assert highest_cut(values, 0.2, of=100) == 0.4


def test_of_nothing_there_is_no_best_cut():
    assert best_difference([], [0.5], 1, 1) is None


@pytest.mark.parametrize(
    ("above", "below", "sizes", "cut"),
    [
        ([0.8, 0.9], [0.1, 0.2], (2, 2), 0.8),
        ([0.5, 0.9], [0.4, 0.6], (2, 2), 0.5),  # As good as 0.9, and lower.
        ([0.5, 0.5], [0.5, 0.5], (2, 2), None),
        ([0.1, 0.2], [0.8, 0.9], (2, 2), None),
        ([0.5], [], (1, 3), 0.5),  # Nothing was found for the unanswerable ones.
        ([0.5], [0.5], (3, 1), None),  # Fewer than a third against all.
    ],
)
def test_the_best_difference(above, below, sizes, cut):
    assert best_difference(above, below, *sizes) == cut
