"""Hints in a lookup: a predicted category and more words, never evidence."""

from collections.abc import Iterator

import numpy as np
import pytest

from pincite.errors import CatalogUnreachable
from pincite.store.port import TextQuery, VectorQuery
from pincite.testing.faults import put, raising
from pincite.testing.lookups import (
    Query,
    codes,
    considered,
    fruit_corpus,
    keys,
    look,
    parts_of,
    watched,
    write,
)
from pincite.testing.small_corpus import SmallCorpus

QUERY = "the graph of neighbours"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCorpus]:
    """A document whose alias is the query's phrase, one like it elsewhere, one of another scope."""
    with fruit_corpus(tmp_path_factory.mktemp("hints")) as made:
        write(
            made,
            "hnsw",
            "HNSW is searched level by level",
            category="index",
            title="HNSW",
            aliases=["graph of neighbours", "small world"],
        )
        write(made, "walk", "the neighbours of a graph, one by one", category="travel")
        write(
            made,
            "hidden",
            "the graph of neighbours in the vault",
            kb_scope="board",
            category="treasure",
            aliases=["vault of gold", "gold"],
        )
        yield made


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_a_predicted_category_filters_the_first_attempt(corpus: SmallCorpus, mode: str) -> None:
    result = look(parts_of(corpus), QUERY, mode=mode)
    (attempt,) = result.trace.attempts
    assert (attempt.name, attempt.outcome) == ("FILTERED_VECTOR", "evidence")
    assert 'category == "index"' in attempt.filter
    assert keys(result) == ["hnsw#chunk-0"]
    assert result.blocks[0].candidate.hit_reasons[-1] == "l0_category"
    assert (codes(result), result.trace.fallback_reason) == ([], None)


def test_the_stage_tells_how_many_phrases_matched_and_words_came_of_it(corpus: SmallCorpus) -> None:
    stage = look(parts_of(corpus), QUERY).trace.stages[0]
    # The alias; "hnsw", "small" and "world".
    assert (stage.name, stage.entered, stage.left) == ("l0", 1, 3)


def test_the_retry_drops_the_category_and_the_added_words_only(corpus: SmallCorpus) -> None:
    queries: list[Query] = []
    parts = parts_of(corpus, store=watched(corpus.store, queries))
    result = look(parts, QUERY, mode="hybrid", low_quality=1.0, exclude_scopes=("board",))
    assert [a.name for a in result.trace.attempts] == ["FILTERED_VECTOR", "UNFILTERED_VECTOR_RETRY"]
    assert result.trace.fallback_reason == "filtered_vector_low_quality"
    filters = [attempt.filter for attempt in result.trace.attempts]
    assert filters[0] == f'({filters[1]}) and (category == "index")'
    assert filters[1] == 'kb_scope not in ["board"]'
    first, retry = (query.terms for query in queries if isinstance(query, TextQuery))
    assert retry == "graph neighbour"
    assert first.removeprefix(f"{retry} ").split() == ["small", "world", "hnsw"]
    dense = [query.vector for query in queries if isinstance(query, VectorQuery)]
    assert np.array_equal(dense[0], dense[1])
    assert keys(result)[0] == "walk#chunk-0"
    assert "l0_category" not in {r for b in result.blocks for r in b.candidate.hit_reasons}


def test_added_words_find_what_the_query_does_not_say(corpus: SmallCorpus) -> None:
    found = look(parts_of(corpus), QUERY, mode="lexical")
    assert keys(found) == ["hnsw#chunk-0"]
    assert found.blocks[0].candidate.hit_reasons == ("lexical", "l0_category")


def test_the_dense_query_is_the_one_without_hints(corpus: SmallCorpus) -> None:
    queries: list[Query] = []
    look(parts_of(corpus, store=watched(corpus.store, queries)), QUERY, mode="dense")
    (query,) = queries
    assert isinstance(query, VectorQuery)
    assert np.allclose(query.vector, corpus.embedder.vectors([QUERY])[0])  # type: ignore[attr-defined]


def test_a_category_that_is_given_comes_before_a_predicted_one(corpus: SmallCorpus) -> None:
    result = look(parts_of(corpus), QUERY, mode="dense", category="travel")
    assert 'category == "travel"' in result.trace.attempts[0].filter
    assert result.blocks[0].candidate.hit_reasons == ("dense", "category")


def test_hints_come_from_the_scope_that_is_asked(corpus: SmallCorpus) -> None:
    parts = parts_of(corpus)
    asked = "gold in the vault of gold"
    board = look(parts, asked, kb_scope="board", mode="hybrid")
    assert 'category == "treasure"' in board.trace.attempts[0].filter
    assert keys(board) == ["hidden#chunk-0"]
    for scopes in ({"kb_scope": "nobody"}, {"exclude_scopes": ("board",)}):
        other = look(parts, asked, mode="hybrid", **scopes)
        assert [attempt.name for attempt in other.trace.attempts] == ["UNFILTERED_VECTOR"]
        assert "hidden#chunk-0" not in considered(other)
        assert "treasure" not in other.to_json()


def test_documents_that_say_nothing_of_themselves_give_no_hints(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with fruit_corpus(tmp_path_factory.mktemp("bare")) as bare:
        write(bare, "fruit", "apples are red")
        result = look(parts_of(bare), "apples")
    assert (keys(result), codes(result)) == (["fruit#chunk-0"], ["l0_empty"])
    assert result.trace.degradations[0].stage == "l0"


def test_a_catalogue_that_cannot_be_asked_gives_no_hints(corpus: SmallCorpus) -> None:
    catalog = put(corpus.catalog, "l0.match", raising(CatalogUnreachable("Gone.")))
    result = look(parts_of(corpus, catalog=catalog), QUERY, exclude_scopes=("board",))
    assert (codes(result), result.trace.attempts[0].name) == (
        ["l0_unavailable"],
        "UNFILTERED_VECTOR",
    )
    assert keys(result)[0] == "walk#chunk-0"
