import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.embedding.batching import PLAIN_TEXT, Embedded, embed_all, embed_one, pack
from pincite.embedding.hash import HashEmbedder
from pincite.embedding.port import Action, EmbedderInfo, Vectors
from pincite.errors import (
    EmbedderRefused,
    EmbedderUnreachable,
    EmbeddingInvalid,
    EmbeddingRejected,
)

INFO = replace(HashEmbedder().info, batch_size=4)


class Picky(HashEmbedder):
    """A hash embedder that goes wrong at texts with certain words."""

    def __init__(self, info: EmbedderInfo = INFO) -> None:
        super().__init__(info)
        self.calls: list[list[str]] = []
        self.running = self.most_running = 0

    async def embed(
        self, texts: Sequence[str], action: Action, timeout_s: float | None = None
    ) -> Vectors:
        self.calls.append(list(texts))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        return self.answer(texts)

    def answer(self, texts: Sequence[str]) -> Vectors:
        if any("down" in text for text in texts):
            raise EmbedderUnreachable("The endpoint is down.")
        if any("poison" in text for text in texts):
            raise EmbeddingRejected("The text is refused.")
        vectors = self.vectors(texts)
        vectors[["hollow" in text for text in texts]] = 0
        vectors[["broken" in text for text in texts]] = np.nan
        short = sum("swallowed" in text for text in texts)
        return vectors[: len(texts) - short]


class Down(Picky):
    """Refuses or spoils every text."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def answer(self, texts: Sequence[str]) -> Vectors:
        raise self.error


def run(embedder: HashEmbedder, texts: Sequence[str], **options: object) -> Embedded:
    return asyncio.run(embed_all(embedder, texts, **options))  # type: ignore[arg-type]


BAD = ["poison", "hollow", "broken", "swallowed"]


@given(st.lists(st.sampled_from([*BAD, "good", "fine words", ""]), max_size=25))
@settings(max_examples=60, deadline=None)
def test_exactly_the_bad_texts_are_rejected(texts: list[str]) -> None:
    done = run(Picky(), texts)
    bad = [index for index, text in enumerate(texts) if text in BAD]
    assert sorted(done.rejected) == bad
    assert np.isnan(done.vectors[bad]).all()
    good = [index for index in range(len(texts)) if index not in bad]
    plain = HashEmbedder().vectors([texts[index] for index in good])
    assert np.array_equal(done.vectors[good], plain)


def test_the_reason_is_kept_per_text() -> None:
    done = run(Picky(), ["good", "poison", "hollow", "swallowed", "broken"])
    kinds = {index: type(error) for index, error in done.rejected.items()}
    assert kinds == {
        1: EmbeddingRejected,
        2: EmbeddingInvalid,
        3: EmbeddingInvalid,
        4: EmbeddingInvalid,
    }


def test_a_text_without_direction_costs_its_batch_nothing() -> None:
    embedder = Picky()
    run(embedder, ["a", "hollow", "b", "c"])
    assert embedder.calls == [["a", "hollow", "b", "c"], [PLAIN_TEXT]]


def test_a_bad_text_is_found_by_halving() -> None:
    embedder = Picky(replace(INFO, batch_size=64))
    run(embedder, [f"text {n}" for n in range(63)] + ["poison"])
    assert len(embedder.calls) == 14


def test_an_unreachable_endpoint_ends_the_run() -> None:
    with pytest.raises(EmbedderUnreachable):
        run(Picky(), ["a", "b", "c", "d", "down", "e"])


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (EmbeddingRejected("no", status=400), EmbedderRefused),
        (EmbeddingInvalid("nonsense"), EmbeddingInvalid),
        (EmbedderRefused("key"), EmbedderRefused),
    ],
)
def test_an_embedder_that_serves_no_text_ends_the_run_early(
    error: Exception, raised: type[Exception]
) -> None:
    embedder = Down(error)
    with pytest.raises(raised):
        run(embedder, ["a", "b", "c", "d"] * 100)
    assert len(embedder.calls) <= 4


def test_no_more_calls_run_at_a_time_than_the_embedder_likes() -> None:
    texts = [f"text {n}" for n in range(40)]
    for width in (1, 3):
        embedder = Picky(replace(INFO, concurrency=width))
        done = run(embedder, texts)
        assert embedder.most_running == width
        assert np.array_equal(done.vectors, embedder.vectors(texts))


def test_tokens_count_the_texts_that_have_a_vector() -> None:
    assert run(Picky(), ["abcd", "poison", "abcdefgh"]).tokens == 3
    assert run(Picky(), ["abcd", "poison", "abcdefgh"], tokens=[10, 20, 30]).tokens == 40


def test_no_texts_ask_nobody() -> None:
    embedder = Picky()
    done = run(embedder, [])
    assert done.vectors.shape == (0, embedder.info.dim)
    assert embedder.calls == []


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 5), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_batches_keep_order_and_limits(counts: list[int], size: int, most: int) -> None:
    batches = list(pack(counts, replace(INFO, batch_size=size, max_batch_tokens=most)))
    assert [index for batch in batches for index in batch] == list(range(len(counts)))
    for batch in batches:
        assert 1 <= len(batch) <= size
        assert len(batch) == 1 or sum(counts[index] for index in batch) <= most


def test_one_text_is_checked_too() -> None:
    embedder = Picky()
    assert asyncio.run(embed_one(embedder, "good", "search")).shape == (embedder.info.dim,)
    for text in ("hollow", "broken", "swallowed"):
        with pytest.raises(EmbeddingInvalid):
            asyncio.run(embed_one(embedder, text, "search"))
