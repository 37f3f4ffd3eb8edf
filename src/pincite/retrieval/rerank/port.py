"""The port through which candidates get a second score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Passage:
    """What a reranker sees of a candidate.

    ``title`` and ``heading`` are ``""`` where there is none. ``dense`` (cosine) and ``lexical``
    (BM25) are the scores of the legs that found it, higher is better, ``None`` where that leg
    did not. ``terms`` are the row's analysed words (``pincite.analysis``), ``""`` where unknown.
    """

    text: str
    title: str
    heading: str
    dense: float | None
    lexical: float | None
    terms: str = ""


@dataclass(frozen=True)
class Ranked:
    """The score of one passage; ``index`` counts from 0 in the passages given."""

    index: int
    score: float


class Reranker(Protocol):
    """Scores passages against a query.

    ``rerank`` looks at the first ``top_k`` passages and gives each of them exactly one
    ``Ranked``: ``min(top_k, len(passages))`` in all, in any order. Scores are finite, higher is
    better, on a scale of the reranker's own: they compare within one call, not with those of
    another reranker and not with a cosine. No passages give ``[]``, and nobody is asked.

    ``timeout_s`` is the deadline of the whole call in seconds, retries included. ``guarded``
    fences the call with the same time, by cancelling it where it awaits. A reranker that computes
    in the event loop without awaiting cannot be fenced by anyone, and holds up every other lookup
    meanwhile: long computations belong in a thread.

    ``name`` is stable, says provider and model (``"http:model-name"``) and holds no secret.
    Calls may overlap. ``close`` frees connections, may be called twice, and a reranker may be
    used again after it.

    Raises:
        RerankerTimeout: No answer before the deadline.
        RerankerUnreachable: Out of reach or overloaded, after the adapter's own retries.
        RerankerRefused: The endpoint refuses the request as such (key, model, address).
        RerankingInvalid: The answer has another shape.
    """

    @property
    def name(self) -> str: ...

    async def rerank(
        self, query: str, passages: Sequence[Passage], top_k: int, timeout_s: float
    ) -> list[Ranked]: ...

    async def close(self) -> None: ...
