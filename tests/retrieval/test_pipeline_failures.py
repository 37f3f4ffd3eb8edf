"""A lookup whose parts fail: what answers instead, and what is an error."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pincite.embedding.hash import HashEmbedder
from pincite.errors import (
    EmbedderChanged,
    EmbedderUnreachable,
    EmbeddingInvalid,
    EmbeddingRejected,
    RequestInvalid,
    StoreRejected,
    StoreUnreachable,
)
from pincite.recipe import Recipe
from pincite.retrieval.result import LookupResult
from pincite.store.memory import MemoryStore
from pincite.store.port import TextQuery, VectorQuery
from pincite.testing.faults import Fault, changing, hanging, put, raising
from pincite.testing.lookups import Query, codes, fruit_corpus, keys, look, parts_of, watched
from pincite.testing.small_corpus import SmallCorpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCorpus]:
    with fruit_corpus(tmp_path_factory.mktemp("corpus")) as made:
        yield made


@pytest.fixture(scope="module")
def old_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCorpus]:
    """The corpus on a store without full text."""
    folder = tmp_path_factory.mktemp("old")
    with fruit_corpus(folder, store=MemoryStore(full_text=False)) as made:
        yield made


def ask(corpus: SmallCorpus, query: str = "apples", /, **options: Any) -> LookupResult:
    return look(parts_of(corpus), query, **options)


def failing_embed(corpus: SmallCorpus, fault: Fault) -> Any:
    return put(corpus.embedder, "embed", fault)


def failing_search(corpus: SmallCorpus, fault: Fault, asked: type[Query]) -> Any:
    """The store with a fault in one kind of search."""
    return put(corpus.store, "search", fault, lambda _, query: isinstance(query, asked))


# Legs


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_full_text_answers_where_the_embedder_fails(corpus: SmallCorpus, mode: str) -> None:
    embedder = failing_embed(corpus, raising(EmbedderUnreachable("Gone.")))
    result = look(parts_of(corpus, embedder=embedder), "plums", mode=mode)
    assert keys(result) == ["fruit#chunk-2"]
    assert [(one.stage, one.code) for one in result.trace.degradations] == [
        ("embed", "embedder_unreachable")
    ]
    assert [attempt.mode for attempt in result.trace.attempts] == ["lexical"]


@pytest.mark.parametrize("mode", ["dense", "hybrid", "lexical"])
def test_neither_vector_nor_full_text_is_the_embedders_error(
    old_store: SmallCorpus, mode: str
) -> None:
    embedder = failing_embed(old_store, raising(EmbedderUnreachable("Gone.")))
    with pytest.raises(EmbedderUnreachable, match="Gone"):
        look(parts_of(old_store, embedder=embedder), "plums", mode=mode)


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_without_full_text_the_dense_leg_answers_and_says_so(
    old_store: SmallCorpus, mode: str
) -> None:
    result = ask(old_store, mode=mode)
    assert codes(result) == [f"{mode}_unsupported"]
    assert [attempt.mode for attempt in result.trace.attempts] == ["dense"]
    assert keys(result)[0] == "fruit#chunk-0"
    assert result.results == ask(old_store, mode="dense").results


def test_a_leg_that_fails_beside_another_is_a_degradation(corpus: SmallCorpus) -> None:
    for asked, left in ((VectorQuery, "lexical"), (TextQuery, "dense")):
        store = failing_search(corpus, raising(StoreUnreachable("Gone.")), asked)
        result = look(parts_of(corpus, store=store), "apples", mode="hybrid")
        assert codes(result) == ["store_unreachable"]
        assert [attempt.mode for attempt in result.trace.attempts] == [left]
        assert keys(result)[0] == "fruit#chunk-0"


# Attempts


def in_category(filtered: bool) -> Any:
    return lambda _, query: ("category" in repr(query.filter)) == filtered


def test_a_failed_filtered_attempt_is_answered_by_the_retry(corpus: SmallCorpus) -> None:
    refuse = raising(StoreRejected("No such column."))
    store = put(corpus.store, "search", refuse, in_category(filtered=True))
    result = look(parts_of(corpus, store=store), "apples", category="food")
    assert keys(result)[0] == "fruit#chunk-0"
    assert [a.outcome for a in result.trace.attempts] == ["failed", "evidence"]
    assert result.trace.fallback_reason == "filtered_vector_failed"
    assert codes(result) == ["store_rejected"]


def test_a_failed_retry_leaves_the_weak_evidence_of_the_first_attempt(corpus: SmallCorpus) -> None:
    refuse = raising(StoreUnreachable("Gone."))
    store = put(corpus.store, "search", refuse, in_category(filtered=False))
    result = look(parts_of(corpus, store=store), "apples", category="food", low_quality=1.0)
    assert keys(result)[0] == "fruit#chunk-0"
    assert result.trace.selected_attempt == "FILTERED_VECTOR"
    assert result.trace.fallback_reason == "filtered_vector_low_quality"
    assert codes(result) == ["store_unreachable"]


@pytest.mark.parametrize("category", ["", "food"])
@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_no_way_at_all_to_search_is_the_stores_own_error(
    corpus: SmallCorpus, category: str, mode: str
) -> None:
    store = put(corpus.store, "search", raising(StoreUnreachable("Gone.")))
    with pytest.raises(StoreUnreachable, match="Gone"):
        look(parts_of(corpus, store=store), "apples", category=category, mode=mode)


# Deadlines


def test_a_store_that_hangs_is_left_at_the_deadline(corpus: SmallCorpus) -> None:
    queries: list[Query] = []
    store = watched(put(corpus.store, "search", hanging()), queries)
    with pytest.raises(StoreUnreachable, match="in time"):
        look(parts_of(corpus, store=store), "apples", timeout_ms=200)
    assert [0 < (query.timeout_s or 9.0) <= 0.2 for query in queries] == [True, True]


def test_full_text_has_time_left_when_the_embedder_hangs(corpus: SmallCorpus) -> None:
    parts = parts_of(corpus, embedder=failing_embed(corpus, hanging()))
    result = look(parts, "apples", timeout_ms=400)
    assert (keys(result), codes(result)) == (["fruit#chunk-0"], ["embedder_unreachable"])


def test_an_embedder_that_hangs_is_an_error_where_there_is_no_full_text(
    old_store: SmallCorpus,
) -> None:
    parts = parts_of(old_store, embedder=failing_embed(old_store, hanging()))
    with pytest.raises(EmbedderUnreachable, match=r"within 1[0-4]\d ms"):
        look(parts, "apples", timeout_ms=200)


# The embedder


@pytest.mark.parametrize(
    "lie",
    [
        lambda vectors: vectors[:0],
        lambda vectors: np.concatenate([vectors, vectors]),
        lambda vectors: vectors[:, :10],
        lambda vectors: vectors * np.float32("nan"),
        lambda vectors: vectors * np.float32(0),
        lambda _: None,
        lambda _: [["a", "b"]],
    ],
)
def test_an_embedder_that_lies_is_found_out(old_store: SmallCorpus, lie: Any) -> None:
    embedder = failing_embed(old_store, changing(lie))
    with pytest.raises(EmbeddingInvalid):
        look(parts_of(old_store, embedder=embedder), "apples")


def test_a_query_that_the_embedder_refuses_is_an_invalid_request(corpus: SmallCorpus) -> None:
    embedder = failing_embed(corpus, raising(EmbeddingRejected("Too long.")))
    with pytest.raises(RequestInvalid, match="query"):
        look(parts_of(corpus, embedder=embedder), "apples")


def test_the_embedder_is_that_of_the_pinned_generation(corpus: SmallCorpus) -> None:
    def embedder_for(recipe: Recipe | None) -> HashEmbedder:
        assert recipe is not None
        assert recipe.embedder == corpus.embedder.info.space.id
        raise EmbedderChanged("Another one.")

    with pytest.raises(EmbedderChanged):
        look(parts_of(corpus, embedder_for=embedder_for), "apples")


# The line in the catalogue


def test_a_line_that_cannot_be_kept_is_a_degradation(corpus: SmallCorpus) -> None:
    full = raising(OSError("disk full"))
    catalog = put(corpus.catalog, "activity.record_lookup", full)
    result = look(parts_of(corpus, catalog=catalog), "apples")
    assert (len(result.blocks), codes(result)) == (2, ["lookup_not_recorded"])
    assert "disk" not in result.to_json()
