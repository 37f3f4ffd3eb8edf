import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.embedding import cached as caching
from pincite.embedding.cache import CACHE_UNAVAILABLE, VectorCache
from pincite.embedding.cached import CachedEmbedder, PassageResult
from pincite.embedding.config import EmbedderConfig
from pincite.embedding.hash import HashEmbedder
from pincite.embedding.port import Action, Vectors
from pincite.errors import EmbedderUnreachable, EmbeddingRejected


class Counting(HashEmbedder):
    """Notes what it embeds; refuses ``poison``, is gone at ``down``."""

    def __init__(self, revision: str = "1") -> None:
        info = HashEmbedder.from_config(EmbedderConfig("hash", revision=revision)).info
        super().__init__(replace(info, batch_size=4))
        self.seen: list[str] = []

    async def embed(
        self, texts: Sequence[str], action: Action, timeout_s: float | None = None
    ) -> Vectors:
        if "down" in texts:
            raise EmbedderUnreachable("The endpoint is down.")
        if "poison" in texts:
            raise EmbeddingRejected("The text is refused.")
        self.seen += texts
        return self.vectors(texts)


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "cache.sqlite")


def passages(embedder: HashEmbedder, cache: VectorCache | None, texts: list[str]) -> PassageResult:
    async def run() -> PassageResult:
        cached = CachedEmbedder(embedder, cache)
        try:
            return await cached.embed_passages(texts)
        finally:
            await cached.close()

    return asyncio.run(run())


def test_a_second_run_computes_nothing(cache: VectorCache) -> None:
    texts = [f"text {n}" for n in range(10)]
    first = passages(Counting(), cache, texts)
    again = Counting()
    second = passages(again, cache, texts)
    assert (first.computed, first.cached, first.tokens > 0) == (10, 0, True)
    assert (second.computed, second.cached, second.tokens) == (0, 10, 0)
    assert again.seen == []
    assert np.array_equal(first.vectors, second.vectors)


def test_another_space_shares_nothing(cache: VectorCache) -> None:
    passages(Counting(), cache, ["a"])
    assert passages(Counting(revision="2"), cache, ["a"]).computed == 1


def test_queries_and_passages_are_kept_apart(cache: VectorCache) -> None:
    passages(Counting(), cache, ["a"])
    embedder = Counting()

    async def ask() -> list[Vectors]:
        cached = CachedEmbedder(embedder, cache)
        rows = [await cached.embed_query("a"), await cached.embed_query("a")]
        await cached.close()
        return rows

    first, second = asyncio.run(ask())
    assert embedder.seen == ["a"]
    assert np.array_equal(first, second)
    assert first.shape == (embedder.info.dim,)


def test_equal_texts_are_embedded_once(cache: VectorCache) -> None:
    embedder = Counting()
    result = passages(embedder, cache, ["a", "b", "a", "a"])
    assert embedder.seen == ["a", "b"]
    assert (result.computed, result.cached) == (2, 2)
    assert np.array_equal(result.vectors, embedder.vectors(["a", "b", "a", "a"]))


@given(st.lists(st.sampled_from(["a", "b", "poison", "c", ""]), max_size=12))
@settings(max_examples=40, deadline=None)
def test_every_text_gets_its_vector_or_its_reason(texts: list[str]) -> None:
    result = passages(Counting(), None, texts)
    bad = [index for index, text in enumerate(texts) if text == "poison"]
    good = [index for index, text in enumerate(texts) if text != "poison"]
    assert list(result.rejected) == bad
    assert np.isnan(result.vectors[bad]).all()
    plain = HashEmbedder().vectors([texts[index] for index in good])
    assert np.array_equal(result.vectors[good], plain)
    assert result.computed + result.cached + len(bad) == len(texts)


def test_a_rejected_text_is_not_kept(cache: VectorCache) -> None:
    passages(Counting(), cache, ["poison", "a"])
    result = passages(Counting(), cache, ["poison", "a"])
    assert list(result.rejected) == [0]
    assert (result.computed, result.cached) == (0, 1)


def test_what_was_done_before_a_crash_is_kept(
    cache: VectorCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching, "FIRST_SLICE", 2)
    monkeypatch.setattr(caching, "LARGEST_SLICE", 2)
    with pytest.raises(EmbedderUnreachable):
        passages(Counting(), cache, ["a", "b", "c", "down"])
    assert passages(Counting(), cache, ["a", "b"]).cached == 2


def test_known_token_counts_are_taken() -> None:
    async def run() -> PassageResult:
        return await CachedEmbedder(Counting()).embed_passages(["a", "b", "a"], tokens=[5, 7, 5])

    assert asyncio.run(run()).tokens == 12


def test_a_cache_out_of_order_is_reported_and_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "cache.sqlite").mkdir()
    result = passages(Counting(), VectorCache(tmp_path / "cache.sqlite"), ["a"])
    assert result.degradation == CACHE_UNAVAILABLE
    assert (result.computed, result.rejected) == (1, {})


def test_no_texts_give_an_empty_result(cache: VectorCache) -> None:
    result = passages(Counting(), cache, [])
    assert result.vectors.shape == (0, HashEmbedder().info.dim)
    assert (result.computed, result.cached, result.tokens) == (0, 0, 0)
