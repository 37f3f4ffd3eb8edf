"""The answer of a lookup and its JSON, the contract that scripts and the evaluator read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pincite.retrieval.packing import Block
from pincite.retrieval.trace import Trace


@dataclass(frozen=True)
class Rerank:
    """What the reranker did; latency in ms, ``None`` = nothing to name."""

    enabled: bool
    applied: bool
    reranker: str | None
    top_source: str | None
    fallback_reason: str | None
    latency_ms: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "enabled": self.enabled,
            "applied": self.applied,
            "reranker": self.reranker,
            "topSource": self.top_source,
            "fallbackReason": self.fallback_reason,
            "latencyMs": self.latency_ms,
        }


NO_RERANK = Rerank(
    enabled=False,
    applied=False,
    reranker=None,
    top_source=None,
    fallback_reason=None,
    latency_ms=0,
)


@dataclass(frozen=True)
class LookupResult:
    """Evidence blocks in order of rank, and how they were found.

    ``generation`` is the pinned one, ``None`` where the corpus has none, was not asked, or where
    several corpora were; each block has its own. ``evidence_score`` is the judgement behind the
    status, in [0, 1], ``None`` where the embedding model has no measured one.
    """

    query: str
    transformed_query: str
    corpus: str
    kb_scope: str
    generation: int | None
    evidence_status: str
    blocks: tuple[Block, ...]
    token_budget: int
    trace: Trace
    trace_id: str
    rerank: Rerank = NO_RERANK
    evidence_score: float | None = None

    @property
    def tokens_used(self) -> int:
        return sum(block.tokens for block in self.blocks)

    @property
    def results(self) -> list[dict[str, Any]]:
        """The agent's projection, one entry a block: all that ``lookup_knowledge`` returns.

        Two corpora may hold one key; within a corpus a key comes once.
        """
        shown: dict[tuple[str, str], Block] = {}
        for block in self.blocks:
            shown.setdefault((block.candidate.corpus, block.candidate.evidence_key), block)
        return [_projected(block) for block in shown.values()]

    def as_dict(self) -> dict[str, Any]:
        """The JSON document; every key is always there."""
        return {
            "query": self.query,
            "transformedQuery": self.transformed_query,
            "corpus": self.corpus,
            "kbScope": self.kb_scope,
            "generation": self.generation,
            "traceId": self.trace_id,
            "evidenceStatus": self.evidence_status,
            "evidenceScore": self.evidence_score,
            "results": self.results,
            "context": {
                "blocks": [_block(block) for block in self.blocks],
                "tokenBudget": self.token_budget,
                "tokensUsed": self.tokens_used,
            },
            "retrievalTrace": self.trace.as_dict(),
            "rerank": self.rerank.as_dict(),
        }

    def to_json(self) -> str:
        """One JSON document; characters as they are, no NaN."""
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False)


def _projected(block: Block) -> dict[str, Any]:
    candidate = block.candidate
    return {
        "document_id": candidate.evidence_key,
        "corpus": candidate.corpus,
        "source": candidate.source,
        "title": candidate.title,
        "excerpt": block.content,
        "score": candidate.score,
        "hit_reasons": list(candidate.hit_reasons),
        "content_sha256": candidate.content_sha256,
    }


def _block(block: Block) -> dict[str, Any]:
    candidate = block.candidate
    return {
        "evidenceKey": candidate.evidence_key,
        "corpus": candidate.corpus,
        "generation": candidate.generation,
        "docId": candidate.doc_id,
        "chunkIndex": candidate.chunk_index,
        "vectorId": candidate.vector_id,
        "source": candidate.source,
        "title": candidate.title,
        "heading": candidate.heading,
        "content": block.content,
        "charStart": block.char_start,
        "charEnd": block.char_end,
        "trimmed": block.trimmed,
        "contentSha256": candidate.content_sha256,
        "score": candidate.score,
        "scores": {
            "dense": candidate.dense,
            "lexical": candidate.lexical,
            "fused": candidate.fused,
            "rerank": candidate.rerank,
            "trust": candidate.trust,
            "sourceRank": candidate.source_rank,
        },
        "hitReasons": list(candidate.hit_reasons),
        "tokens": block.tokens,
    }
