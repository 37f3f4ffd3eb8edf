from typing import Any

import pytest

from pincite.identity import text_sha256
from pincite.retrieval.candidates import COLUMNS, best_dense, dense_candidates
from pincite.store.port import Hit

ROW: dict[str, Any] = {
    "doc_id": "a",
    "doc_version": 3,
    "chunk_index": 2,
    "kb_scope": "s",
    "category": "c",
    "source": "docs/a.md",
    "title": "A",
    "heading": "One > Two",
    "content": "words",
    "content_sha256": text_sha256("words"),
    "char_start": 10,
    "char_end": 15,
}


def _hit(vector_id: str = "a#chunk-2", similarity: float = 0.5, **columns: Any) -> Hit:
    return Hit(vector_id, similarity, similarity, {**ROW, **columns})


def test_a_native_row_gives_everything_it_says() -> None:
    (made,) = dense_candidates([_hit()], "docs", 4)
    assert made.evidence_key == "a#chunk-2"
    assert {name: getattr(made, name) for name in COLUMNS} == ROW
    assert (made.corpus, made.generation, made.original_rank) == ("docs", 4, 0)
    assert (made.score, made.dense, made.lexical, made.hit_reasons) == (0.5, 0.5, None, ("dense",))


@pytest.mark.parametrize(
    "columns",
    [{"doc_id": ""}, {"doc_id": None}, {"chunk_index": -1}, {"chunk_index": None}],
)
def test_a_row_without_identity_is_cited_by_its_vector(columns: dict[str, Any]) -> None:
    (made,) = dense_candidates([_hit("v1", **columns)], "docs", 1)
    assert made.evidence_key == "vector:v1"


def test_a_row_without_any_id_is_cited_by_its_rank() -> None:
    hits = [_hit("", 0.1, doc_id=""), _hit("", 0.9, doc_id="")]
    made = dense_candidates(hits, "docs", 1)
    assert [(c.evidence_key, c.dense) for c in made] == [("rank:0", 0.9), ("rank:1", 0.1)]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_not_finite_is_missing_and_sorts_last(score: float) -> None:
    made = dense_candidates([_hit("x", score, doc_id=""), _hit("y", -0.9, doc_id="")], "docs", 1)
    assert [(c.vector_id, c.dense) for c in made] == [("y", -0.9), ("x", None)]
    assert best_dense(made) == -0.9


@pytest.mark.parametrize("span", [(10, 14), (None, 15), (-1, -1)])
def test_a_span_of_another_length_is_no_span(span: tuple[Any, Any]) -> None:
    (made,) = dense_candidates([_hit(char_start=span[0], char_end=span[1])], "docs", 1)
    assert (made.char_start, made.char_end) == (None, None)


def test_a_row_without_a_digest_gets_that_of_its_content() -> None:
    row = {"content": "words"}
    (made,) = dense_candidates([Hit("v", 0.5, 0.5, row)], "docs", 1)
    assert made.content_sha256 == text_sha256("words")
    assert (made.title, made.doc_version, made.char_start) == ("", None, None)
