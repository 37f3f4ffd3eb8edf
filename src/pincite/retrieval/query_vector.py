"""The vector of a query: checked, and kept for the next time it is asked."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from pincite.embedding.port import Vectors
from pincite.errors import EmbeddingInvalid
from pincite.retrieval.hot import HotQueries

logger = logging.getLogger(__name__)


def checked(vectors: object, dim: int) -> Vectors:
    """The one vector of what an embedder gave, ``(dim,) float32``.

    Raises:
        EmbeddingInvalid: It is no such vector, zero, or not finite.
    """
    try:
        found = np.asarray(vectors, np.float32)
    except (TypeError, ValueError) as exc:
        raise EmbeddingInvalid("What the embedder gave for the query is no vector.") from exc
    if found.shape != (1, dim):
        raise EmbeddingInvalid(f"One query gave vectors of shape {found.shape}, not (1, {dim}).")
    if not np.isfinite(found).all() or not found.any():
        raise EmbeddingInvalid("The query's vector is zero or not finite.")
    vector: Vectors = found[0]
    return vector


def kept_vector(hot: HotQueries, space: str, query: str, dim: int) -> Vectors | None:
    """The vector that was kept, if there is one that can be used."""
    with _without_cache():
        kept = hot.vector(space, query)
        return None if kept is None else checked([kept], dim)
    return None


def keep_vector(hot: HotQueries, space: str, query: str, vector: Vectors) -> None:
    """Keep it for the next time, if that can be done."""
    with _without_cache():
        hot.keep_vector(space, query, vector)


@contextmanager
def _without_cache() -> Iterator[None]:
    """This cache saves a call and nothing else: without it the answer lacks nothing."""
    try:
        yield
    except Exception as error:
        logger.warning("vector cache failed: %s", type(error).__name__)
