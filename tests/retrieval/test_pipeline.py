import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import create_engine, text

from pincite.embedding.hash import HashEmbedder
from pincite.embedding.port import Action, EmbedderInfo, ScoreProfile, Vectors
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
from pincite.retrieval.pipeline import LookupParts, lookup
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.result import LookupResult
from pincite.store.port import Hit, VectorQuery
from pincite.testing.small_corpus import SmallCorpus

FRUIT = ["apples are red", "pears are green", "plums are blue"]

Prepare = Callable[[SmallCorpus], Awaitable[Any]]


class Store:
    """The corpus's store, whose searches run through a function of the test."""

    def __init__(
        self, corpus: SmallCorpus, search: Callable[[VectorQuery], Awaitable[None]]
    ) -> None:
        self._store, self._before = corpus.store, search

    async def search(self, collection: str, query: VectorQuery) -> list[Hit]:
        await self._before(query)
        return await self._store.search(collection, query)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class Profiled(HashEmbedder):
    """The hash embedder with thresholds of its own and another way to embed a query."""

    def __init__(
        self,
        profile: ScoreProfile | None = None,
        query: Callable[[Vectors], Awaitable[Vectors]] | None = None,
    ) -> None:
        super().__init__()
        self._profile, self._query = profile or ScoreProfile(), query

    @property
    def info(self) -> EmbedderInfo:
        plain = super().info
        return EmbedderInfo(plain.space, plain.max_tokens, self._profile)

    async def embed(
        self, texts: Sequence[str], action: Action, timeout_s: float | None = None
    ) -> Vectors:
        vectors = self.vectors(texts)
        return await self._query(vectors) if self._query and action == "search" else vectors


async def _fruit(corpus: SmallCorpus) -> None:
    await corpus.write("fruit", FRUIT, title="Fruit", source="docs/fruit.md", category="food")


def _look(
    folder: Path,
    query: str = "apples",
    prepare: Prepare = _fruit,
    *,
    embedder: HashEmbedder | None = None,
    search: Callable[[VectorQuery], Awaitable[None]] | None = None,
    after: Callable[[SmallCorpus], None] | None = None,
    **options: Any,
) -> LookupResult:
    async def run() -> LookupResult:
        corpus = await SmallCorpus(folder, embedder=embedder).create()
        await prepare(corpus)
        if after is not None:
            after(corpus)
        store = Store(corpus, search) if search is not None else corpus.store
        parts = LookupParts(corpus.catalog, store, lambda recipe: corpus.embedder)
        result = await lookup(LookupRequest(query, **options), parts)
        corpus.catalog.close()
        return result

    return asyncio.run(run())


def _codes(result: LookupResult) -> list[str]:
    return [one.code for one in result.trace.degradations]


def _keys(result: LookupResult) -> list[str]:
    return [block.candidate.evidence_key for block in result.blocks]


def _considered(result: LookupResult) -> set[str]:
    return {*_keys(result), *(one.evidence_key for one in result.trace.dropped)}


def test_the_passage_that_has_the_words_comes_first(tmp_path: Path) -> None:
    result = _look(tmp_path, "pears green")
    assert _keys(result)[0] == "fruit#chunk-1"
    assert result.results[0]["excerpt"] == "pears are green"
    assert (result.evidence_status, result.generation) == ("SUFFICIENT", 1)
    assert (result.trace.selected_attempt, result.trace.fallback_reason) == (
        "UNFILTERED_VECTOR",
        None,
    )
    assert _codes(result) == []


def test_every_block_says_what_the_kept_text_says(tmp_path: Path) -> None:
    kept = "\n".join(FRUIT)
    for block in _look(tmp_path, "are").blocks:
        assert block.content == kept[slice(block.char_start, block.char_end)]


def test_the_document_cap_and_the_cut_are_in_the_trace(tmp_path: Path) -> None:
    result = _look(tmp_path, "apples", return_n=1)
    assert [one.reason for one in result.trace.dropped] == ["document_cap", "return_n"]
    assert len(_considered(result)) == 3


def test_the_number_of_blocks_never_changes_what_was_considered(tmp_path: Path) -> None:
    async def many(corpus: SmallCorpus) -> None:
        for number in range(12):
            await corpus.write(f"d{number}", [f"shared words {number}", f"shared more {number}"])

    results = [
        _look(tmp_path / str(n), "shared words", many, return_n=n, retrieve_k=9) for n in (1, 3, 9)
    ]
    assert len({frozenset(_considered(result)) for result in results}) == 1
    assert [len(result.blocks) for result in results] == [1, 3, 9]
    assert _keys(results[2])[:3] == _keys(results[1])


def test_a_corpus_without_a_generation_gives_no_evidence_and_says_so(tmp_path: Path) -> None:
    result = _look(tmp_path, corpus="web", session_id="s")
    assert (result.evidence_status, result.generation, _codes(result)) == (
        "NONE",
        None,
        ["corpus_empty"],
    )


def test_switched_off_gives_no_evidence_and_says_so(tmp_path: Path) -> None:
    result = _look(tmp_path, enabled=False)
    assert (result.evidence_status, _codes(result), result.trace.attempts) == (
        "NONE",
        ["rag_disabled"],
        [],
    )


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_another_mode_is_answered_by_the_dense_leg_and_says_so(tmp_path: Path, mode: str) -> None:
    result = _look(tmp_path, mode=mode)
    assert _codes(result) == [f"{mode}_unsupported"]
    assert [attempt.mode for attempt in result.trace.attempts] == ["dense"]
    assert result.blocks


def test_a_wanted_reranker_is_missed_out_loud(tmp_path: Path) -> None:
    result = _look(tmp_path, rerank=True)
    assert _codes(result) == ["rerank_unsupported"]
    assert result.rerank.fallback_reason == "not_built"


def test_the_excluded_scope_is_seen_only_when_it_is_named(tmp_path: Path) -> None:
    async def both(corpus: SmallCorpus) -> None:
        await corpus.write("open", ["apples here"])
        await corpus.write("exam", ["apples there"], kb_scope="rag-eval")

    assert _keys(_look(tmp_path / "1", prepare=both)) == ["open#chunk-0"]
    assert _keys(_look(tmp_path / "2", prepare=both, kb_scope="rag-eval")) == ["exam#chunk-0"]
    assert len(_keys(_look(tmp_path / "3", prepare=both, exclude_scopes=()))) == 2


@pytest.mark.parametrize("scope", ["*", "%", "null", 'a" or "1" == "1'])
def test_a_scope_matches_only_itself(tmp_path: Path, scope: str) -> None:
    async def both(corpus: SmallCorpus) -> None:
        await corpus.write("mine", ["apples here"], kb_scope=scope)
        await corpus.write("other", ["apples there"], kb_scope="other")

    assert _keys(_look(tmp_path, prepare=both, kb_scope=scope)) == ["mine#chunk-0"]


async def _categories(corpus: SmallCorpus) -> None:
    await corpus.write("a", ["apples in a pie"], category="food", kb_scope="team")
    await corpus.write("b", ["bees and honey"], category="animals", kb_scope="team")
    await corpus.write("c", ["bees of another team"], category="animals", kb_scope="foreign")


def test_a_category_filters_the_first_attempt(tmp_path: Path) -> None:
    result = _look(tmp_path, "bees", _categories, category="animals", kb_scope="team")
    assert _keys(result) == ["b#chunk-0"]
    (attempt,) = result.trace.attempts
    assert (attempt.name, attempt.outcome, attempt.hit_count) == ("FILTERED_VECTOR", "evidence", 1)
    assert attempt.filter == '(kb_scope == "team") and (category == "animals")'


def test_no_evidence_in_the_category_drops_the_category_only(tmp_path: Path) -> None:
    result = _look(tmp_path, "bees", _categories, category="plants", kb_scope="team")
    assert _keys(result) == ["b#chunk-0", "a#chunk-0"]
    assert [a.name for a in result.trace.attempts] == ["FILTERED_VECTOR", "UNFILTERED_VECTOR_RETRY"]
    assert [a.outcome for a in result.trace.attempts] == ["no_evidence", "evidence"]
    assert result.trace.attempts[1].filter == 'kb_scope == "team"'
    assert result.trace.selected_attempt == "UNFILTERED_VECTOR_RETRY"
    assert result.trace.fallback_reason == "filtered_vector_no_evidence"


def test_weak_evidence_in_the_category_calls_for_the_retry(tmp_path: Path) -> None:
    result = _look(tmp_path, "bees", _categories, category="food", kb_scope="team", low_quality=0.3)
    assert _keys(result)[0] == "b#chunk-0"
    assert result.trace.fallback_reason == "filtered_vector_low_quality"


def test_nothing_in_both_attempts_returns_nothing(tmp_path: Path) -> None:
    result = _look(tmp_path, "bees", _categories, category="plants", kb_scope="nobody")
    assert (result.evidence_status, result.blocks) == ("NONE", ())
    assert result.trace.fallback_reason == "filtered_vector_no_evidence"


def test_without_a_category_there_is_no_retry(tmp_path: Path) -> None:
    result = _look(tmp_path, "bees", threshold=1.0)
    assert (result.evidence_status, len(result.trace.attempts)) == ("NONE", 1)
    assert {one.reason for one in result.trace.dropped} == {"below_threshold"}


def test_a_failed_filtered_attempt_is_answered_by_the_retry(tmp_path: Path) -> None:
    async def refuse_category(query: VectorQuery) -> None:
        if "category" in repr(query.filter):
            raise StoreRejected("No such column.")

    result = _look(tmp_path, search=refuse_category, category="food")
    assert _keys(result)[0] == "fruit#chunk-0"
    assert [a.outcome for a in result.trace.attempts] == ["failed", "evidence"]
    assert result.trace.fallback_reason == "filtered_vector_failed"
    assert _codes(result) == ["store_rejected"]


def test_a_failed_retry_leaves_the_weak_evidence_of_the_first_attempt(tmp_path: Path) -> None:
    async def refuse_all(query: VectorQuery) -> None:
        if "category" not in repr(query.filter):
            raise StoreUnreachable("Gone.")

    result = _look(tmp_path, search=refuse_all, category="food", low_quality=1.0)
    assert _keys(result)[0] == "fruit#chunk-0"
    assert result.trace.selected_attempt == "FILTERED_VECTOR"
    assert (result.trace.fallback_reason, _codes(result)) == (
        "filtered_vector_low_quality",
        ["store_unreachable"],
    )


@pytest.mark.parametrize("category", ["", "food"])
def test_no_way_at_all_to_search_is_the_stores_own_error(tmp_path: Path, category: str) -> None:
    async def gone(query: VectorQuery) -> None:
        raise StoreUnreachable("Gone.")

    with pytest.raises(StoreUnreachable, match="Gone"):
        _look(tmp_path, search=gone, category=category)


def test_a_store_that_hangs_is_left_at_the_deadline(tmp_path: Path) -> None:
    async def hang(query: VectorQuery) -> None:
        assert query.timeout_s is not None
        assert query.timeout_s <= 0.2
        await asyncio.sleep(30)

    with pytest.raises(StoreUnreachable, match="200 ms"):
        _look(tmp_path, search=hang, timeout_ms=200)


def test_an_embedder_that_hangs_is_left_at_the_deadline(tmp_path: Path) -> None:
    async def hang(vectors: Vectors) -> Vectors:
        await asyncio.sleep(30)
        return vectors

    with pytest.raises(EmbedderUnreachable, match="200 ms"):
        _look(tmp_path, embedder=Profiled(query=hang), timeout_ms=200)


@pytest.mark.parametrize(
    "lie",
    [
        lambda vectors: vectors[:0],
        lambda vectors: np.concatenate([vectors, vectors]),
        lambda vectors: vectors[:, :10],
        lambda vectors: vectors * np.float32("nan"),
        lambda vectors: vectors * np.float32(0),
    ],
)
def test_an_embedder_that_lies_is_found_out(
    tmp_path: Path, lie: Callable[[Vectors], Vectors]
) -> None:
    async def query(vectors: Vectors) -> Vectors:
        return lie(vectors)

    with pytest.raises(EmbeddingInvalid):
        _look(tmp_path, embedder=Profiled(query=query))


def test_a_query_that_the_embedder_refuses_is_an_invalid_request(tmp_path: Path) -> None:
    async def refuse(vectors: Vectors) -> Vectors:
        raise EmbeddingRejected("Too long.")

    with pytest.raises(RequestInvalid, match="query"):
        _look(tmp_path, embedder=Profiled(query=refuse))


def test_the_embedder_is_that_of_the_pinned_generation(tmp_path: Path) -> None:
    async def run() -> None:
        corpus = await SmallCorpus(tmp_path).create()

        def embedder_for(recipe: Recipe) -> HashEmbedder:
            assert recipe.embedder == corpus.embedder.info.space.id
            raise EmbedderChanged("Another one.")

        parts = LookupParts(corpus.catalog, corpus.store, embedder_for)
        await lookup(LookupRequest("q"), parts)

    with pytest.raises(EmbedderChanged):
        asyncio.run(run())


def test_lines_come_from_the_models_profile_and_the_request_overrides_them(
    tmp_path: Path,
) -> None:
    strict = Profiled(ScoreProfile(threshold=0.99, low_quality=0.99, weak=0.99))
    assert _look(tmp_path / "1", embedder=strict).evidence_status == "NONE"
    weak = _look(tmp_path / "2", embedder=strict, threshold=-1.0)
    assert (weak.evidence_status, len(weak.blocks)) == ("WEAK", 2)
    strong = _look(tmp_path / "3", embedder=strict, threshold=-1.0, weak=0.1)
    assert strong.evidence_status == "SUFFICIENT"


def test_a_lookup_leaves_one_line_in_the_catalogue_without_its_query(tmp_path: Path) -> None:
    result = _look(tmp_path, "apples", mode="hybrid")
    (line,) = SmallCorpus(tmp_path).catalog.activity.lookups("docs")
    assert (line.trace_id, line.hit_count) == (result.trace.trace_id, len(result.blocks))
    assert (line.evidence_status, line.degradations) == ("SUFFICIENT", ("hybrid_unsupported",))
    assert "apples" not in repr(line)


def test_a_line_that_cannot_be_kept_is_a_degradation(tmp_path: Path) -> None:
    def drop_table(corpus: SmallCorpus) -> None:
        engine = create_engine(f"sqlite:///{tmp_path / 'catalog.sqlite'}")
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE lookups"))
        engine.dispose()

    result = _look(tmp_path, after=drop_table)
    assert result.blocks
    assert _codes(result) == ["lookup_not_recorded"]


def test_the_log_has_its_fields_and_not_the_query(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="pincite.retrieval.pipeline"):
        result = _look(tmp_path, "apples secret", trace_id="t-1")
    (record,) = caplog.records
    assert vars(record)["trace_id"] == "t-1"
    assert vars(record)["hit_count"] == len(result.blocks)
    for name in ("corpus", "action", "fallback_reason", "latency_ms"):
        assert name in vars(record)
    assert "secret" not in caplog.text


def test_stages_tell_how_many_went_in_and_came_out(tmp_path: Path) -> None:
    result = _look(tmp_path, "apples", return_n=1)
    assert [(s.name, s.entered, s.left) for s in result.trace.stages] == [
        ("transform", 1, 1),
        ("l0", 0, 0),
        ("embed", 1, 1),
        ("search", 3, 3),
        ("threshold", 3, 3),
        ("rerank", 3, 3),
        ("adjust", 3, 3),
        ("sort", 3, 3),
        ("merge", 3, 3),
        ("document_cap", 3, 2),
        ("return_n", 2, 1),
        ("pack", 1, 1),
    ]
