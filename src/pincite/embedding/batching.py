"""Embeds any number of texts: packs batches, checks what comes back, isolates bad texts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pincite.embedding.port import Action, Embedder, EmbedderInfo, Vectors
from pincite.embedding.vectors import usable
from pincite.errors import EmbedderRefused, EmbeddingInvalid, EmbeddingRejected, PinciteError

# A text that every embedder can embed; when this one fails too, the texts are not at fault.
PLAIN_TEXT = "pincite"


@dataclass(frozen=True)
class Embedded:
    """Vectors of many texts.

    ``vectors`` is ``(n, dim) float32``, row i for text i, NaN where ``rejected`` has i and the
    reason. ``tokens`` counts the texts that have a vector.
    """

    vectors: Vectors
    rejected: Mapping[int, PinciteError]
    tokens: int


async def embed_all(
    embedder: Embedder,
    texts: Sequence[str],
    action: Action = "add",
    *,
    tokens: Sequence[int] | None = None,
    timeout_s: float | None = None,
) -> Embedded:
    """Embed the texts; a bad one is rejected alone, by halving the batch that it is in.

    Args:
        embedder: Who embeds; its ``info`` says how large a batch is and how many run at a time.
        texts: Any number of texts.
        action: ``"search"`` embeds queries, the others passages.
        tokens: Token counts of the texts, if they are known already.
        timeout_s: Seconds that each call of the embedder may take.

    Raises:
        EmbedderUnreachable: The endpoint does not answer.
        EmbedderRefused: The endpoint refuses the request, or even a plain text.
        EmbeddingInvalid: Also for a plain text, what comes back cannot be used.
    """
    counts = list(embedder.count_tokens(texts) if tokens is None else tokens)
    run = _Run(embedder, texts, action, timeout_s)
    await run.drain_all(pack(counts, embedder.info))
    done = sum(count for index, count in enumerate(counts) if index not in run.rejected)
    return Embedded(run.vectors, run.rejected, done)


async def embed_one(
    embedder: Embedder, text: str, action: Action, timeout_s: float | None = None
) -> Vectors:
    """The checked vector of one text, ``(dim,) float32``.

    Raises:
        EmbeddingRejected: The embedder refuses the text.
        EmbeddingInvalid: What came back cannot be used.
        EmbedderUnreachable: The endpoint does not answer.
        EmbedderRefused: The endpoint refuses the request as such.
    """
    vectors = await _checked(embedder, [text], action, timeout_s)
    if not usable(vectors)[0]:
        raise _no_direction()
    row: Vectors = vectors[0]
    return row


def pack(tokens: Sequence[int], info: EmbedderInfo) -> Iterator[range]:
    """Split positions into batches, in order, within the embedder's limits.

    A text of more than ``max_batch_tokens`` is a batch of its own.
    """
    start, load = 0, 0
    for index, count in enumerate(tokens):
        over = info.max_batch_tokens is not None and load + count > info.max_batch_tokens
        if index > start and (over or index - start >= info.batch_size):
            yield range(start, index)
            start, load = index, 0
        load += count
    if start < len(tokens):
        yield range(start, len(tokens))


@dataclass
class _Run:
    embedder: Embedder
    texts: Sequence[str]
    action: Action
    timeout_s: float | None
    rejected: dict[int, PinciteError] = field(default_factory=dict)
    proved: bool = False

    def __post_init__(self) -> None:
        self.vectors = np.full((len(self.texts), self.embedder.info.dim), np.nan, np.float32)
        self.proving = asyncio.Lock()

    async def drain_all(self, batches: Iterator[range]) -> None:
        """Run the batches, at most ``concurrency`` at a time; the first error stops the rest."""
        width = self.embedder.info.concurrency
        workers = [asyncio.create_task(self.drain(batches)) for _ in range(width)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def drain(self, batches: Iterator[range]) -> None:
        for batch in batches:
            await self.embed(batch)

    async def embed(self, batch: range) -> None:
        texts = [self.texts[index] for index in batch]
        try:
            vectors = await _checked(self.embedder, texts, self.action, self.timeout_s)
        except (EmbeddingRejected, EmbeddingInvalid) as exc:
            await self.divide(batch, exc)
        else:
            await self.keep(batch, vectors)

    async def divide(self, batch: range, error: PinciteError) -> None:
        if len(batch) == 1:
            await self.reject(batch[0], error)
            return
        middle = len(batch) // 2
        await self.embed(batch[:middle])
        await self.embed(batch[middle:])

    async def keep(self, batch: range, vectors: Vectors) -> None:
        good = usable(vectors)
        self.vectors[batch.start : batch.stop][good] = vectors[good]
        for index in np.flatnonzero(~good):
            await self.reject(batch[int(index)], _no_direction())

    async def reject(self, index: int, error: PinciteError) -> None:
        async with self.proving:
            if not self.proved:
                await _prove(self.embedder, self.action, self.timeout_s)
                self.proved = True
        self.rejected[index] = error


async def _prove(embedder: Embedder, action: Action, timeout_s: float | None) -> None:
    """Make sure that the embedder still serves, so that a failure is the text's own."""
    try:
        await embed_one(embedder, PLAIN_TEXT, action, timeout_s)
    except EmbeddingRejected as exc:
        raise EmbedderRefused(
            f"The embedder refuses every text, {PLAIN_TEXT!r} too.", **exc.attributes
        ) from exc


async def _checked(
    embedder: Embedder, texts: Sequence[str], action: Action, timeout_s: float | None
) -> Vectors:
    vectors = await embedder.embed(texts, action, timeout_s)
    expected = (len(texts), embedder.info.dim)
    if vectors.shape != expected:
        raise EmbeddingInvalid(
            f"The embedder returns an array of shape {vectors.shape}, not {expected}."
        )
    return vectors


def _no_direction() -> EmbeddingInvalid:
    return EmbeddingInvalid(
        "The vector of the text is zero or not finite.",
        "Look at the text of the named chunk; the embedder makes nothing of it.",
    )
