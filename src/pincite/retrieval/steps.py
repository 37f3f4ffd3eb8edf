"""The steps of a lookup as plain functions.

``LookupSteps`` is what the pipeline runs over: the functions themselves, or whatever wraps them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pincite.embedding.port import Embedder, Vectors
from pincite.errors import (
    EmbedderUnreachable,
    EmbeddingInvalid,
    EmbeddingRejected,
    RequestInvalid,
)
from pincite.retrieval import packing, postprocess
from pincite.retrieval.candidates import Candidate
from pincite.retrieval.packing import CountTokens, Packed
from pincite.retrieval.postprocess import Kept
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.search import Lines, Tried, Where, try_search
from pincite.retrieval.trace import Deadline
from pincite.store.port import VectorStore


def transform_query(query: str) -> str:
    """The query as it is embedded: without whitespace around it."""
    return query.strip()


async def embed_query(embedder: Embedder, query: str, dim: int, deadline: Deadline) -> Vectors:
    """The query's vector, ``(dim,) float32``, finite and not zero.

    Raises:
        EmbedderUnreachable: No answer before the deadline.
        EmbeddingInvalid: What came back is no such vector.
        RequestInvalid: The embedder refuses this query.
    """
    left = deadline.left_s()
    try:
        async with asyncio.timeout(left):
            vectors = await embedder.embed([query], "search", timeout_s=left)
    except TimeoutError as exc:
        raise EmbedderUnreachable(
            f"The embedder did not answer within {deadline.timeout_ms} ms.",
            "Check that its endpoint runs; rag.retrieve.timeout-ms gives it more time.",
        ) from exc
    except EmbeddingRejected as exc:
        raise RequestInvalid(
            "The embedder refuses the query.", "Ask with another, shorter query."
        ) from exc
    return _checked(np.asarray(vectors), dim)


def _checked(vectors: Vectors, dim: int) -> Vectors:
    if vectors.shape != (1, dim):
        raise EmbeddingInvalid(f"One query gave vectors of shape {vectors.shape}, not (1, {dim}).")
    if not np.isfinite(vectors).all() or not vectors.any():
        raise EmbeddingInvalid("The query's vector is zero or not finite.")
    vector: Vectors = vectors[0]
    return vector


Search = Callable[[VectorStore, Where, LookupRequest, str, Lines, Deadline], Awaitable[Tried]]


@dataclass(frozen=True)
class LookupSteps:
    """One callable for each step; the pipeline knows their order and nothing else of them."""

    transform: Callable[[str], str] = transform_query
    embed: Callable[[Embedder, str, int, Deadline], Awaitable[Vectors]] = embed_query
    search: Search = try_search
    threshold: Callable[[Sequence[Candidate], float | None], Kept] = postprocess.threshold
    order: Callable[[Sequence[Candidate]], Kept] = postprocess.order
    merge: Callable[[Sequence[Candidate]], Kept] = postprocess.merge
    cap: Callable[[Sequence[Candidate], int], Kept] = postprocess.cap
    cut: Callable[[Sequence[Candidate], int], Kept] = postprocess.cut
    pack: Callable[[Sequence[Candidate], int, CountTokens], Packed] = packing.pack


DIRECT = LookupSteps()
