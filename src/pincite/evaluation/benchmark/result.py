"""What a benchmark gave, and its JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DIGITS = 4


@dataclass(frozen=True)
class Sizes:
    """How much there was.

    ``empty`` documents have no text; ``missing`` ones are not in the corpus, for the codes counted
    in ``failures`` or for their size. ``judged`` questions have an answer, ``asked`` ones are the
    first of them, ``unjudged`` ones have none. ``computed`` and ``cached`` count embeddings.
    """

    documents: int
    empty: int
    missing: int
    failures: Mapping[str, int]
    chunks: int
    judged: int
    asked: int
    unjudged: int
    computed: int
    cached: int


@dataclass(frozen=True)
class InForce:
    """The settings that the figures depend on; ``threshold`` is the line in force."""

    embedder: str
    mode: str
    reranker: str
    retrieve_k: int
    threshold: float | None
    chunk_size: int
    chunk_overlap: int


@dataclass(frozen=True)
class BenchmarkResult:
    """Means over the questions asked, by name; times in ms.

    ``degradations`` counts what lookups had to do without, by stage and code.
    """

    name: str
    split: str
    sizes: Sizes
    measures: Mapping[str, float]
    in_force: InForce
    degradations: Mapping[str, int]
    ingest_ms: int
    asked_ms: int
    latency_p50_ms: int
    latency_p95_ms: int

    @property
    def whole(self) -> bool:
        """Whether every document is in the corpus: if not, the figures compare with nothing."""
        return not self.sizes.missing

    def as_dict(self) -> dict[str, Any]:
        """The JSON document; keys in camelCase."""
        sizes = self.sizes
        return {
            "benchmark": self.name,
            "split": self.split,
            "measures": {name: round(value, DIGITS) for name, value in self.measures.items()},
            "documents": {
                "total": sizes.documents,
                "empty": sizes.empty,
                "missing": sizes.missing,
                "failures": dict(sizes.failures),
            },
            "chunks": sizes.chunks,
            "queries": {
                "judged": sizes.judged,
                "asked": sizes.asked,
                "unjudged": sizes.unjudged,
            },
            "embeddings": {"computed": sizes.computed, "cached": sizes.cached},
            "settings": self._settings(),
            "degradations": dict(self.degradations),
            "ingestMs": self.ingest_ms,
            "askedMs": self.asked_ms,
            "latencyMs": {"p50": self.latency_p50_ms, "p95": self.latency_p95_ms},
        }

    def _settings(self) -> dict[str, Any]:
        given = self.in_force
        return {
            "embedder": given.embedder,
            "mode": given.mode,
            "reranker": given.reranker,
            "retrieveK": given.retrieve_k,
            "threshold": given.threshold,
            "chunkSize": given.chunk_size,
            "chunkOverlap": given.chunk_overlap,
        }
