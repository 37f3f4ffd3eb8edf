from collections.abc import Callable, Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.retrieval.blending import blend
from pincite.retrieval.candidates import Candidate, to_table
from pincite.schemas.candidates import CANDIDATES

Make = Callable[..., Candidate]
NAMES = ("docs", "memory", "web")


def _tables(make: Make, lengths: Sequence[int]) -> list[pa.Table]:
    return [
        to_table(make("d", rank, corpus=name, score=1.0 - rank / 100) for rank in range(length))
        for name, length in zip(NAMES, lengths, strict=False)
    ]


def _shown(table: pa.Table) -> list[tuple[str, int]]:
    columns = (table["corpus"].to_pylist(), table["chunk_index"].to_pylist())
    return list(zip(*columns, strict=True))


def test_the_first_of_each_corpus_comes_before_the_second_of_any(make: Make) -> None:
    assert _shown(blend(_tables(make, (2, 3, 1)))) == [
        ("docs", 0),
        ("memory", 0),
        ("web", 0),
        ("docs", 1),
        ("memory", 1),
        ("memory", 2),
    ]


def test_corpora_come_in_the_order_in_which_they_were_asked(make: Make) -> None:
    assert [corpus for corpus, _ in _shown(blend(_tables(make, (1, 1))[::-1]))] == [
        "memory",
        "docs",
    ]


def test_scores_of_different_corpora_are_not_compared(make: Make) -> None:
    low = to_table([make("a", score=0.01), make("b", score=0.005)])
    high = to_table([make("c", corpus="memory", score=9.0), make("d", corpus="memory", score=8.0)])
    assert blend([low, high])["doc_id"].to_pylist() == ["a", "c", "b", "d"]


def test_equal_keys_of_two_corpora_both_stay(make: Make) -> None:
    made = blend([to_table([make("a")]), to_table([make("a", corpus="web")])])
    assert made["evidence_key"].to_pylist() == ["a#chunk-0"] * 2


@pytest.mark.parametrize("lengths", [(0, 0), (0,), (0, 2), (2, 0, 1)])
def test_a_corpus_without_candidates_takes_no_place(make: Make, lengths: tuple[int, ...]) -> None:
    made = blend(_tables(make, lengths))
    assert len(made) == sum(lengths)
    assert made.schema.equals(CANDIDATES.schema)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=3))
def test_all_are_there_once_and_each_corpus_keeps_its_order(make: Make, lengths: list[int]) -> None:
    tables = _tables(make, lengths)
    made = _shown(blend(tables))
    for name, table in zip(NAMES, tables, strict=False):
        assert [one for one in made if one[0] == name] == _shown(table)
    ranks = [rank for _, rank in made]
    assert ranks == sorted(ranks)
