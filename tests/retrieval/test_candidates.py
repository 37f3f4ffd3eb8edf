import math
from collections.abc import Callable
from dataclasses import fields
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.retrieval.candidates import (
    Candidate,
    best_dense,
    finite,
    from_table,
    to_table,
    usable,
)
from pincite.schemas.candidates import CANDIDATES

Make = Callable[..., Candidate]

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBER = st.none() | st.integers(0, 2**63 - 1)
SCORE = st.none() | st.floats(allow_nan=False)
FIELDS = {
    **dict.fromkeys(("corpus", "source", "title", "heading", "content", "kb_scope"), TEXT),
    **dict.fromkeys(("doc_id", "vector_id"), st.none() | TEXT),
    **dict.fromkeys(("generation", "chunk_index", "doc_version", "char_start", "char_end"), NUMBER),
    **dict.fromkeys(("score", "dense", "lexical", "fused", "rerank", "trust"), SCORE),
    "hit_reasons": st.lists(TEXT, max_size=3).map(tuple),
    "original_rank": st.integers(0, 100),
}


def test_a_candidate_has_the_columns_of_its_contract_in_their_order() -> None:
    assert [field.name for field in fields(Candidate)] == CANDIDATES.names


@settings(max_examples=60, deadline=None)
@given(st.lists(st.fixed_dictionaries(FIELDS), max_size=4))
def test_candidates_come_back_from_their_table_as_they_were(
    make: Make, rows: list[dict[str, Any]]
) -> None:
    candidates = tuple(make(**row) for row in rows)
    assert from_table(to_table(candidates)) == candidates


def test_a_table_of_candidates_keeps_the_contract_also_without_any(make: Make) -> None:
    assert to_table([make("a"), make(None)]).schema.equals(CANDIDATES.schema)
    assert to_table([]).schema.equals(CANDIDATES.schema)
    assert from_table(to_table([])) == ()


@pytest.mark.parametrize(
    "score", [None, math.nan, math.inf, -math.inf, np.float32("nan"), "0.5", b"1", 1j, Decimal(1)]
)
def test_a_score_that_is_no_finite_number_is_missing(score: Any) -> None:
    assert usable(score) is None


@pytest.mark.parametrize("score", [0.5, -1, 0, np.float32(0.25), np.int64(3)])
def test_a_score_of_any_finite_kind_is_a_float(score: Any) -> None:
    made = usable(score)
    assert type(made) is float
    assert made == score


def test_the_best_cosine_is_that_of_whichever_candidate_has_it(make: Make) -> None:
    rows = [make("a", dense=None), make("b", dense=-0.5), make("c", dense=0.25)]
    assert best_dense(to_table(rows)) == 0.25
    assert best_dense(to_table(rows[:1])) is None
    assert best_dense(to_table([])) is None


@pytest.mark.parametrize("name", ["score", "dense", "lexical", "fused", "rerank", "trust"])
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_score_that_became_no_number_is_taken_out_and_nothing_else(
    make: Make, name: str, odd: float
) -> None:
    good = {"score": 0.5, "dense": 0.5, "lexical": 2.0, "rerank": None}
    table = to_table([make("a", **{**good, name: odd}), make("b", **good)])
    cleaned = finite(table)
    assert cleaned.schema.equals(CANDIDATES.schema)
    assert from_table(cleaned) == (make("a", **{**good, name: None}), make("b", **good))
    assert math.isfinite(table[name][0].as_py()) is False


def test_finite_scores_stay_as_they_are(make: Make) -> None:
    table = to_table([make("a", score=0.5), make("b", score=None)])
    assert finite(table).equals(table)
    assert len(finite(CANDIDATES.empty())) == 0
