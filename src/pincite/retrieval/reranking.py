"""The rerank stage: candidates in, candidates with a reranker's scores or as they were out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from pincite.retrieval.rerank.guarded import guarded
from pincite.retrieval.rerank.port import Passage, Reranker
from pincite.retrieval.result import NO_RERANK, Rerank
from pincite.schemas.candidates import CANDIDATES

NO_CANDIDATES = "rerank_no_candidates"


@dataclass(frozen=True)
class Reranked:
    """The candidates, in the order they came, and what the reranker did."""

    candidates: pa.Table
    record: Rerank


async def rerank_candidates(
    reranker: Reranker | None, query: str, candidates: pa.Table, top_k: int, timeout_s: float
) -> Reranked:
    """Score the first ``top_k`` candidates; those behind them stay behind, in their order.

    ``None`` as reranker, or one that fails, leaves every score as it was.
    """
    if reranker is None:
        return Reranked(candidates, NO_RERANK)
    if not len(candidates):
        return Reranked(candidates, _record(reranker, None, NO_CANDIDATES, 0))
    verdict = await guarded(reranker, query, _passages(candidates), top_k, timeout_s)
    if verdict.scores is None:
        return Reranked(candidates, _record(reranker, None, verdict.reason, verdict.latency_ms))
    scores = verdict.scores
    source = candidates["source"][scores.index(max(scores))].as_py()
    scored = _set(_set(candidates, "rerank", scores), "score", scores)
    return Reranked(scored, _record(reranker, source, None, verdict.latency_ms))


def combined(records: Sequence[Rerank]) -> Rerank:
    """One record for several corpora: applied where it was anywhere, with the first reason."""
    enabled = [record for record in records if record.enabled]
    if not enabled:
        return NO_RERANK
    applied = [record for record in enabled if record.applied]
    reasons = [record.fallback_reason for record in enabled if record.fallback_reason]
    return replace(
        (applied or enabled)[0],
        fallback_reason=next(iter(reasons), None),
        latency_ms=max(record.latency_ms for record in enabled),
    )


def _passages(candidates: pa.Table) -> list[Passage]:
    columns = ("content", "title", "heading", "dense", "lexical", "terms")
    rows = zip(*(candidates[name].to_pylist() for name in columns), strict=True)
    return [Passage(*row) for row in rows]


def _set(candidates: pa.Table, name: str, values: Sequence[float]) -> pa.Table:
    field = CANDIDATES.schema.field(name)
    at = candidates.column_names.index(name)
    return candidates.set_column(at, field, pa.array(values, field.type))


def _record(reranker: Reranker, source: str | None, reason: str | None, latency_ms: int) -> Rerank:
    return Rerank(
        enabled=True,
        applied=reason is None,
        reranker=reranker.name,
        top_source=source,
        fallback_reason=reason,
        latency_ms=latency_ms,
    )
