"""Warming up: the model, the store and both legs are touched, and nothing else happens."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pincite.errors import (
    CatalogUnreachable,
    EmbedderChanged,
    EmbedderUnreachable,
    StoreUnreachable,
)
from pincite.recipe import Recipe
from pincite.retrieval.hot import HotQueries
from pincite.retrieval.parts import LookupParts
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.warm import warm_up
from pincite.store.memory import MemoryStore
from pincite.store.port import TextQuery, VectorQuery
from pincite.testing.faults import put, raising
from pincite.testing.lookups import Query, fruit_corpus, look, parts_of, watched
from pincite.testing.memory_corpus import OWNER, MemoryCorpus
from pincite.testing.small_corpus import SmallCorpus


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[SmallCorpus]:
    with fruit_corpus(tmp_path) as made:
        yield made


def warm(parts: LookupParts, **options: Any) -> None:
    asyncio.run(warm_up(LookupRequest("a question", **options), parts))


@pytest.mark.parametrize(
    ("mode", "legs"),
    [
        ("dense", [VectorQuery]),
        ("hybrid", [VectorQuery, TextQuery]),
        # Full text may turn out to be missing; then the dense leg answers.
        ("lexical", [VectorQuery, TextQuery]),
    ],
)
def test_every_leg_that_may_be_asked_is_touched(
    corpus: SmallCorpus, mode: str, legs: list[type]
) -> None:
    queries: list[Query] = []
    warm(parts_of(corpus, store=watched(corpus.store, queries)), mode=mode, kb_scope="team")
    assert [type(query) for query in queries] == legs
    assert {query.limit for query in queries} == {1}
    assert all("team" in repr(query.filter) for query in queries)


def test_nothing_is_recorded_or_kept(corpus: SmallCorpus) -> None:
    hot = HotQueries(vectors=10, results=10)
    warm(parts_of(corpus, hot=hot), mode="hybrid")
    assert corpus.catalog.activity.lookups() == []
    assert not any(hot.counts().values())


def test_a_corpus_without_a_generation_has_nothing_to_warm(corpus: SmallCorpus) -> None:
    queries: list[Query] = []
    warm(parts_of(corpus, store=watched(corpus.store, queries)), corpus="web", session_id="s")
    assert queries == []


def test_several_corpora_are_warmed_each_with_its_own_scopes(tmp_path: Path) -> None:
    with fruit_corpus(tmp_path) as docs:
        memory = MemoryCorpus(tmp_path, store=docs.store, catalog=docs.catalog)
        asyncio.run(memory.create())
        queries: list[Query] = []
        parts = parts_of(docs, store=watched(docs.store, queries))
        warm(parts, corpus="docs,memory", mode="dense", **OWNER)
    assert ["u-1" in repr(query.filter) for query in queries] == [False, True]


def test_a_store_without_full_text_is_warmed_too(tmp_path: Path) -> None:
    with fruit_corpus(tmp_path, store=MemoryStore(full_text=False)) as corpus:
        queries: list[Query] = []
        warm(parts_of(corpus, store=watched(corpus.store, queries)), mode="hybrid")
        assert len(queries) == 2


@pytest.mark.parametrize("place", ["store", "embedder"])
def test_a_service_that_is_gone_is_for_the_lookup_to_tell(corpus: SmallCorpus, place: str) -> None:
    gone = {
        "store": put(corpus.store, "search", raising(StoreUnreachable("Gone."))),
        "embedder": put(corpus.embedder, "embed", raising(EmbedderUnreachable("Gone."))),
    }
    warm(parts_of(corpus, **{place: gone[place]}))


def test_no_embedding_is_asked_for(corpus: SmallCorpus) -> None:
    queries: list[Query] = []
    embedder = put(corpus.embedder, "embed", raising(RuntimeError("Asked.")))
    warm(parts_of(corpus, store=watched(corpus.store, queries), embedder=embedder))
    assert [type(query) for query in queries] == [VectorQuery, TextQuery]


def test_what_no_lookup_can_do_without_is_told_at_once(corpus: SmallCorpus) -> None:
    catalog = put(corpus.catalog, "generations.live", raising(CatalogUnreachable("Gone.")))
    with pytest.raises(CatalogUnreachable):
        warm(parts_of(corpus, catalog=catalog))

    def embedder_for(recipe: Recipe | None) -> Any:
        raise EmbedderChanged("Another one.")

    with pytest.raises(EmbedderChanged):
        warm(parts_of(corpus, embedder_for=embedder_for))


def test_a_warmed_lookup_gives_what_a_cold_one_gives(corpus: SmallCorpus) -> None:
    parts = parts_of(corpus)
    cold = look(parts, "apples").results
    warm(parts)
    assert look(parts, "apples").results == cold
