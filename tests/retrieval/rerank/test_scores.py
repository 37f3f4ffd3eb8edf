import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.retrieval.rerank.port import Ranked
from pincite.retrieval.rerank.scores import LARGEST, Unusable, followed, scores_of

FINITE = st.floats(-LARGEST, LARGEST, allow_nan=False)


def refused(ranked: object, count: int = 2) -> str:
    with pytest.raises(Unusable) as caught:
        scores_of(ranked, count)
    return caught.value.code


@given(st.lists(FINITE, min_size=1, max_size=8), st.randoms())
def test_scores_come_back_in_the_passages_order(scores, random) -> None:
    ranked = [Ranked(index, score) for index, score in enumerate(scores)]
    random.shuffle(ranked)
    assert scores_of(ranked, len(scores)) == tuple(scores)


def test_numbers_of_any_kind_become_floats() -> None:
    ranked = [Ranked(np.int64(1), np.float32(0.5)), Ranked(0, 2), Ranked(2, Fraction(1, 4))]
    scores = scores_of(ranked, 3)
    assert scores == (2.0, 0.5, 0.25)
    assert all(type(score) is float for score in scores)


@pytest.mark.parametrize(
    "ranked",
    [
        None,
        "01",
        7,
        {0: 1.0, 1: 2.0},
        iter([Ranked(0, 1.0), Ranked(1, 2.0)]),
        [(0, 1.0), (1, 2.0)],
        [0.1, 0.2],
        [Ranked(0, 1.0), None],
        [Ranked("0", 1.0), Ranked(1, 2.0)],
        [Ranked(0.0, 1.0), Ranked(1, 2.0)],
        [Ranked(False, 1.0), Ranked(True, 2.0)],
        [Ranked(0, "1"), Ranked(1, 2.0)],
        [Ranked(0, True), Ranked(1, 2.0)],
        [Ranked(0, 1j), Ranked(1, 2.0)],
        [Ranked(0, None), Ranked(1, 2.0)],
    ],
)
def test_another_shape_is_malformed(ranked) -> None:
    assert refused(ranked) == "rerank_malformed"


@pytest.mark.parametrize(
    ("indexes", "code"),
    [
        ([], "rerank_too_few"),
        ([0], "rerank_too_few"),
        ([0, 1, 2], "rerank_too_many"),
        ([0, 1, 1], "rerank_too_many"),
        ([0, 2], "rerank_index_out_of_range"),
        ([0, -1], "rerank_index_out_of_range"),
        ([1, 1], "rerank_index_repeated"),
    ],
)
def test_anything_but_each_index_once_has_its_code(indexes, code) -> None:
    assert refused([Ranked(index, 0.5) for index in indexes]) == code


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 10**400, 1.1e300, -1.1e300])
def test_a_score_that_no_order_can_be_made_of_is_not_finite(score) -> None:
    assert refused([Ranked(0, score), Ranked(1, 0.5)]) == "rerank_not_finite"


@given(st.lists(FINITE, min_size=1, max_size=6), st.integers(0, 50))
def test_what_was_not_sent_keeps_its_order_behind_the_worst(scores, more) -> None:
    whole = followed(scores, len(scores) + more)
    behind = whole[len(scores) :]
    assert whole[: len(scores)] == tuple(scores)
    assert len(behind) == more
    assert all(math.isfinite(score) for score in behind)
    falling = [min(scores), *behind]
    assert all(low < high for high, low in itertools.pairwise(falling))
