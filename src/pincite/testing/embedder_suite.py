"""What every embedder must do, as a pytest class that an adapter's tests inherit.

class TestMyEmbedder(EmbedderConformance):
    @pytest.fixture
    def embedder(self):
        return MyEmbedder(...)
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from pincite.embedding.batching import Embedded, embed_all
from pincite.embedding.port import Action, Embedder, Vectors
from pincite.embedding.vectors import norms

TEXTS = (
    "The lease of a killed run runs out by itself.",
    "Die Frist einer abgebrochenen Ausführung läuft von selbst ab.",
    "被终止的运行的租约会自行到期。",
    "def lease(run: str) -> int:\n    return 400\n",
    "🙂 naïve café — № 7",
)
# Cosine of two vectors of one text; adapters that compute in low precision differ a little.
SAME = 0.9999


class EmbedderConformance:
    """Override the fixture ``embedder``; each test gets a fresh one, or all share one."""

    def test_vectors_have_the_promised_shape_and_type(self, embedder: Embedder) -> None:
        vectors = embed(embedder, TEXTS)
        assert vectors.shape == (len(TEXTS), embedder.info.dim)
        assert vectors.dtype == np.float32
        assert vectors.flags.c_contiguous

    def test_vectors_are_finite_and_as_long_as_the_space_says(self, embedder: Embedder) -> None:
        lengths = norms(embed(embedder, TEXTS))
        assert np.isfinite(lengths).all()
        assert (lengths > 0).all()
        if embedder.info.space.normalized:
            assert np.allclose(lengths, 1.0, atol=1e-4)

    def test_no_texts_give_no_vectors(self, embedder: Embedder) -> None:
        assert embed(embedder, ()).shape == (0, embedder.info.dim)

    def test_equal_texts_give_equal_rows(self, embedder: Embedder) -> None:
        vectors = embed(embedder, (TEXTS[0], TEXTS[1], TEXTS[0]))
        assert cosine(vectors[0], vectors[2]) > SAME

    def test_row_i_belongs_to_text_i_whatever_the_order(self, embedder: Embedder) -> None:
        forwards = embed(embedder, TEXTS)
        backwards = embed(embedder, TEXTS[::-1])[::-1]
        assert all(cosine(a, b) > SAME for a, b in zip(forwards, backwards, strict=True))

    def test_a_text_alone_and_in_a_batch_gives_the_same_vector(self, embedder: Embedder) -> None:
        together = embed(embedder, TEXTS)
        alone = embed(embedder, TEXTS[2:3])
        assert cosine(together[2], alone[0]) > SAME

    def test_different_texts_give_different_vectors(self, embedder: Embedder) -> None:
        vectors = embed(embedder, TEXTS)
        assert len(np.unique(vectors, axis=0)) == len(TEXTS)

    def test_adding_and_updating_embed_alike(self, embedder: Embedder) -> None:
        added = embed(embedder, TEXTS[:1], "add")
        updated = embed(embedder, TEXTS[:1], "update")
        assert cosine(added[0], updated[0]) > SAME

    def test_a_query_is_nearest_to_the_passage_with_its_words(self, embedder: Embedder) -> None:
        query = embed(embedder, ("lease of a killed run",), "search")
        passages = embed(embedder, ("Bread needs flour and water.", TEXTS[0]))
        assert int(np.argmax(passages @ query[0])) == 1

    def test_a_text_of_the_longest_length_is_embedded(self, embedder: Embedder) -> None:
        text = longest_text(embedder)
        assert np.isfinite(embed(embedder, (text,))).all()

    def test_tokens_are_counted_per_text(self, embedder: Embedder) -> None:
        counts = embedder.count_tokens(TEXTS)
        assert len(counts) == len(TEXTS)
        assert all(isinstance(count, int) and count > 0 for count in counts)
        assert embedder.count_tokens([]) == []
        assert embedder.count_tokens(["", TEXTS[0]]) == [0, counts[0]]

    def test_a_longer_text_never_has_fewer_tokens(self, embedder: Embedder) -> None:
        lengths = embedder.count_tokens([("word " * n).strip() for n in range(1, 40)])
        assert lengths == sorted(lengths)

    def test_the_space_id_is_stable_and_names_the_dimension(self, embedder: Embedder) -> None:
        space = embedder.info.space
        assert space.id == embedder.info.space.id
        assert str(space.dim) in space.id.split("|")
        assert space.dim == embedder.info.dim > 0

    def test_limits_are_usable(self, embedder: Embedder) -> None:
        info = embedder.info
        assert info.max_tokens > 0
        assert info.batch_size > 0
        assert info.concurrency > 0

    def test_more_texts_than_a_batch_come_back_in_order(self, embedder: Embedder) -> None:
        texts = [f"note number {n}" for n in range(embedder.info.batch_size + 3)]
        done = asyncio.run(_embed_all(embedder, texts))
        assert not done.rejected
        last = embed(embedder, texts[-1:])
        assert cosine(done.vectors[-1], last[0]) > SAME

    def test_it_can_be_closed_twice_and_used_again(self, embedder: Embedder) -> None:
        asyncio.run(_close_twice(embedder))
        assert embed(embedder, TEXTS[:1]).shape == (1, embedder.info.dim)


def embed(embedder: Embedder, texts: Sequence[str], action: Action = "add") -> Vectors:
    """Embed in an event loop of its own, and leave nothing open in it."""

    async def run() -> Vectors:
        try:
            return await embedder.embed(texts, action)
        finally:
            await embedder.close()

    return asyncio.run(run())


def cosine(a: Vectors, b: Vectors) -> float:
    """Cosine similarity of two vectors."""
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def longest_text(embedder: Embedder) -> str:
    """A text that is as long as the embedder takes, within one word."""
    low, high = 1, embedder.info.max_tokens
    while low < high:
        middle = (low + high + 1) // 2
        fits = embedder.count_tokens([_words(middle)])[0] <= embedder.info.max_tokens
        low, high = (middle, high) if fits else (low, middle - 1)
    return _words(low)


def _words(count: int) -> str:
    return " ".join(["word"] * count)


async def _embed_all(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    try:
        return await embed_all(embedder, texts)
    finally:
        await embedder.close()


async def _close_twice(embedder: Embedder) -> None:
    await embedder.embed(TEXTS[:1], "add")
    await embedder.close()
    await embedder.close()
