from __future__ import annotations

from typing import Any

import pytest

from pincite.errors import StoreRejected
from pincite.store.layout import Column, FullText, Kind, Layout
from pincite.store.reading import similarity, to_hits, to_layout, to_text_hits


def test_every_metric_becomes_cosine_higher_is_better() -> None:
    assert similarity("COSINE", 0.25) == 0.25
    assert similarity("IP", -0.5) == -0.5
    assert similarity("L2", 0.0) == 1.0
    assert similarity("L2", 2.0) == 0.0
    assert similarity("L2", 4.0) == -1.0


def test_rounding_does_not_leave_the_range() -> None:
    assert similarity("COSINE", 1.0000002) == 1.0
    assert similarity("L2", 4.0000001) == -1.0


def test_a_metric_without_cosine_is_refused() -> None:
    with pytest.raises(StoreRejected, match="'HAMMING'"):
        similarity("HAMMING", 1.0)


def test_a_collection_without_a_single_vector_is_refused() -> None:
    with pytest.raises(StoreRejected, match="has keys"):
        to_layout({"collection_name": "c", "fields": []}, {})


class Answer(list[Any]):
    """The result of one query, as the client gives it."""

    def __init__(self, *found: tuple[str, float]) -> None:
        super().__init__({"entity": {}} for _ in found)
        self.ids = [key for key, _ in found]
        self.distances = [raw for _, raw in found]


def layout(metric: str) -> Layout:
    columns = (Column("id", Kind.TEXT), Column("v", Kind.VECTOR, 2))
    return Layout(columns, "id", "v", metric, "HNSW", FullText("terms", "sparse"))


def test_scores_of_words_are_positive_and_rows_without_a_word_are_no_hits() -> None:
    found = Answer(("c", -0.5), ("b", -2.0), ("a", -0.5), ("padding", 0.0), ("d", -0.0))
    hits = to_text_hits(layout("COSINE"), (), found)
    assert [(hit.vector_id, hit.lexical, hit.raw_score) for hit in hits] == [
        ("b", 2.0, -2.0),
        ("a", 0.5, -0.5),
        ("c", 0.5, -0.5),
    ]


@pytest.mark.parametrize(
    ("metric", "raws", "expected"),
    [
        ("COSINE", {"b": 1.0000002, "a": 1.0, "c": 0.5}, ["a", "b", "c"]),
        ("IP", {"a": 1.5, "b": 3.0, "c": 0.9, "d": -4.0, "e": -2.0}, ["b", "a", "c", "e", "d"]),
        ("L2", {"a": 9.0, "b": 5.0, "c": 0.0}, ["c", "b", "a"]),
    ],
)
def test_hits_of_vectors_of_any_length_keep_the_order_of_the_store(
    metric: str, raws: dict[str, float], expected: list[str]
) -> None:
    hits = to_hits(layout(metric), (), Answer(*raws.items()))
    assert [hit.vector_id for hit in hits] == expected
    assert all(-1.0 <= (hit.similarity or 0.0) <= 1.0 and hit.lexical is None for hit in hits)
