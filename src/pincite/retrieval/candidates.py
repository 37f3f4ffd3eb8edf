"""Hits on their way through post-processing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from pincite.identity import ABSENT_INDEX, evidence_key, text_sha256
from pincite.store.port import Hit

DENSE = "dense"
LEXICAL = "lexical"

COLUMNS = (
    "doc_id",
    "doc_version",
    "chunk_index",
    "kb_scope",
    "category",
    "source",
    "title",
    "heading",
    "content",
    "content_sha256",
    "char_start",
    "char_end",
)


@dataclass(frozen=True)
class Candidate:
    """One chunk that a search found, with everything that decides its fate.

    ``None`` is an absent value: identity, span and version of rows that carry none, scores that
    nobody gave. All scores are higher-is-better; ``score`` is the one that sorts.
    ``content_sha256`` is the digest of the whole chunk, ``original_rank`` counts from 0.
    """

    evidence_key: str
    corpus: str
    generation: int
    doc_id: str | None
    chunk_index: int | None
    vector_id: str | None
    doc_version: int | None
    source: str
    title: str
    heading: str
    content: str
    char_start: int | None
    char_end: int | None
    content_sha256: str
    kb_scope: str
    category: str
    original_rank: int
    hit_reasons: tuple[str, ...]
    score: float | None = None
    dense: float | None = None
    lexical: float | None = None
    fused: float | None = None
    rerank: float | None = None
    trust: float | None = None


def usable(score: float | None) -> float | None:
    """The score, or ``None`` where it is missing or not finite."""
    return float(score) if isinstance(score, Real) and math.isfinite(score) else None


def dense_candidates(hits: Iterable[Hit], corpus: str, generation: int) -> tuple[Candidate, ...]:
    """Candidates of the dense leg, best first; hits without a usable score come last."""
    ranked = sorted(hits, key=_hit_order)
    return tuple(_candidate(hit, corpus, generation, rank) for rank, hit in enumerate(ranked))


def best_dense(candidates: Sequence[Candidate]) -> float | None:
    """The highest cosine among them, ``None`` when none has one."""
    return max((c.dense for c in candidates if c.dense is not None), default=None)


def _hit_order(hit: Hit) -> tuple[bool, float, str]:
    score = usable(hit.similarity)
    return score is None, -(score or 0.0), hit.vector_id or ""


def _candidate(hit: Hit, corpus: str, generation: int, rank: int) -> Candidate:
    row, similarity = hit.columns, usable(hit.similarity)
    doc_id, vector_id = _text(row, "doc_id") or None, hit.vector_id or None
    chunk_index = _number(row, "chunk_index")
    content = _text(row, "content")
    start, end = _span(row, content)
    return Candidate(
        evidence_key=evidence_key(doc_id, chunk_index, vector_id, rank),
        corpus=corpus,
        generation=generation,
        doc_id=doc_id,
        chunk_index=chunk_index,
        vector_id=vector_id,
        doc_version=_number(row, "doc_version"),
        source=_text(row, "source"),
        title=_text(row, "title"),
        heading=_text(row, "heading"),
        content=content,
        char_start=start,
        char_end=end,
        content_sha256=_text(row, "content_sha256") or text_sha256(content),
        kb_scope=_text(row, "kb_scope"),
        category=_text(row, "category"),
        original_rank=rank,
        hit_reasons=(DENSE,),
        score=similarity,
        dense=similarity,
    )


def _span(row: Mapping[str, Any], content: str) -> tuple[int, int] | tuple[None, None]:
    """Where the content stands in its kept text; a span of another length names another text."""
    start, end = _number(row, "char_start"), _number(row, "char_end")
    if start is None or end is None or end - start != len(content):
        return None, None
    return start, end


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _number(row: Mapping[str, Any], name: str) -> int | None:
    """A whole number from 0; anything else, ``-1`` of stores without nulls too, is absent."""
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, Integral) or value <= ABSENT_INDEX:
        return None
    return int(value)
