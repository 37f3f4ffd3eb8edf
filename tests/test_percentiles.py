"""Percentiles by nearest rank, against their definition."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.percentiles import Spread, nearest_rank, spread_of

VALUES = st.lists(st.integers(0, 10_000), min_size=1, max_size=300)


@given(VALUES, st.integers(0, 100))
def test_it_is_the_least_value_that_so_many_do_not_exceed(values: list[int], percent: int) -> None:
    found = nearest_rank(sorted(values), percent)
    wanted = Fraction(percent, 100) * len(values)
    enough = [value for value in values if sum(one <= value for one in values) >= wanted]
    assert found == min(enough)


@given(VALUES)
def test_percentiles_rise_from_the_least_to_the_greatest(values: list[int]) -> None:
    ordered = sorted(values)
    ranks = [nearest_rank(ordered, percent) for percent in range(101)]
    assert ranks == sorted(ranks)
    assert (ranks[0], ranks[100]) == (ordered[0], ordered[-1])


@given(st.integers(1, 300), st.integers(1, 100))
def test_a_whole_rank_is_not_rounded_up(hundreds: int, percent: int) -> None:
    assert nearest_rank(range(1, hundreds * 100 + 1), percent) == hundreds * percent


@given(VALUES)
def test_a_spread_does_not_hang_on_the_order(values: list[int]) -> None:
    found = spread_of(reversed(values))
    assert found == spread_of(values)
    assert found == Spread(len(values), *(nearest_rank(sorted(values), p) for p in (50, 95, 99)))


def test_a_spread_of_nothing_says_so() -> None:
    assert spread_of([]).as_dict() == {"count": 0, "p50": None, "p95": None, "p99": None}


@pytest.mark.parametrize(("ordered", "percent"), [([], 50), ([1], -1), ([1], 101)])
def test_what_has_no_percentile_is_refused(ordered: list[int], percent: int) -> None:
    with pytest.raises(ValueError, match=r"percent"):
        nearest_rank(ordered, percent)
