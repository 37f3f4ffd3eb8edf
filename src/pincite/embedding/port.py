"""The port through which text becomes vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Action = Literal["add", "update", "search"]


@dataclass(frozen=True)
class VectorSpace:
    """What makes two vectors comparable; a change of any field is another space."""

    provider: str
    model: str
    revision: str
    dim: int
    passage_prefix: str = ""
    query_prefix: str = ""
    normalized: bool = True

    @property
    def id(self) -> str:
        """A stable, readable id; equal ids mean comparable vectors."""
        return "|".join(
            (
                self.provider,
                self.model,
                self.revision,
                str(self.dim),
                self.passage_prefix,
                self.query_prefix,
                "unit" if self.normalized else "raw",
            )
        )


@dataclass(frozen=True)
class EvidenceModel:
    """How a model's cosine and the words of the query together say whether evidence is enough.

    The weights are those of the share of the query's rare words that the best passage holds, of
    the share of its long words, and of the passage's cosine; from ``cut`` on their sum is enough.
    """

    rare: float
    long: float
    cosine: float
    cut: float


@dataclass(frozen=True)
class ScoreProfile:
    """Default cosine thresholds of a model, in [-1, 1]; ``None`` filters nothing.

    ``low_quality`` is the line under which an attempt is weak, ``weak`` the line under which
    the evidence status is ``WEAK``. ``evidence`` judges the status where ``weak`` is ``None``.
    """

    threshold: float | None = None
    low_quality: float | None = None
    weak: float | None = None
    evidence: EvidenceModel | None = None


@dataclass(frozen=True)
class EmbedderInfo:
    """What a pipeline must know about an embedder.

    ``max_tokens`` is the longest text, in tokens as ``count_tokens`` counts them; where
    ``exact_tokens`` is false that count is an estimate that rather errs upwards. One ``embed``
    call serves best with at most ``batch_size`` texts and ``max_batch_tokens`` tokens, and at
    most ``concurrency`` calls at a time.
    """

    space: VectorSpace
    max_tokens: int
    profile: ScoreProfile
    exact_tokens: bool = True
    batch_size: int = 64
    max_batch_tokens: int | None = None
    concurrency: int = 1

    @property
    def dim(self) -> int:
        return self.space.dim


class Embedder(Protocol):
    """Turns texts into vectors, in order.

    ``embed`` returns a C-contiguous ``(n, dim) float32`` array, row i for text i; equal texts
    give equal rows; no texts give ``(0, dim)``. ``action="search"`` embeds as a query, the others
    as a passage. ``timeout_s`` is the deadline of the whole call in seconds, retries included.
    A row that is zero or not finite may come back: ``batching.embed_all`` turns it into the
    rejection of that one text.

    ``count_tokens`` counts the text alone, without prefix and special tokens. ``close`` frees
    connections, may be called twice, and an embedder may be used again after it.

    Raises:
        EmbedderUnreachable: The endpoint did not answer, after the adapter's own retries.
        EmbedderRefused: The endpoint refuses the request as such (key, model).
        EmbeddingRejected: The endpoint refuses these texts.
        EmbeddingInvalid: What came back has the wrong count, order, dimension, or is not finite.
    """

    @property
    def info(self) -> EmbedderInfo: ...

    async def embed(
        self, texts: Sequence[str], action: Action, timeout_s: float | None = None
    ) -> Vectors: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...

    async def close(self) -> None: ...
