"""From the hits of the legs to one ranking of candidates.

Legs are fused by reciprocal rank (Cormack, Clarke and Buettcher, SIGIR 2009): a candidate gets
``1 / (K + rank)`` from each leg that found it, ranks from 1. Ranks need no common scale, and
the scores of both legs stay with the candidate.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pincite.identity import RANK_PREFIX, evidence_key
from pincite.retrieval.candidates import DENSE, LEXICAL, Candidate, usable
from pincite.retrieval.knowledge import KnowledgeSearchHit
from pincite.scopes import scope_columns
from pincite.store.port import Mode

# Measured once, on the sets of benchmarks/quality.py: 10 keeps more of what one leg alone ranks
# first than the usual 60; unequal weights of the legs lose on some set.
K = 10
_REASON = {Mode.DENSE: DENSE, Mode.LEXICAL: LEXICAL}


@dataclass(frozen=True)
class Leg:
    """What one leg of a search found, in any order."""

    mode: Mode
    hits: Sequence[KnowledgeSearchHit]


def reciprocal(rank: int) -> float:
    """What a leg's rank (from 1) is worth."""
    return 1.0 / (K + rank)


def fuse(legs: Sequence[Leg], corpus: str, generation: int | None) -> tuple[Candidate, ...]:
    """One candidate for each evidence key, best first; equal scores by evidence key.

    Hits of one key are united: hit reasons and scores of both legs, the content of the hit that
    ranked higher in its leg. With one leg the score is that leg's own, and nothing is fused.
    """
    found: dict[str, Candidate] = {}
    for leg in legs:
        for rank, hit in enumerate(_ranked(leg.hits), start=1):
            candidate = _candidate(hit, leg.mode, rank, corpus, generation)
            key = candidate.evidence_key
            found[key] = _united(found[key], candidate) if key in found else candidate
    scored = found.values() if len(legs) > 1 else [_single(one) for one in found.values()]
    ranked = sorted(scored, key=lambda c: (c.score is None, -(c.score or 0.0), c.evidence_key))
    return tuple(_at_rank(candidate, rank) for rank, candidate in enumerate(ranked))


def _ranked(hits: Sequence[KnowledgeSearchHit]) -> list[KnowledgeSearchHit]:
    """Best first, equal ones by key, without a usable score last; of one key the best alone."""
    ranked: dict[str, KnowledgeSearchHit] = {}
    for position, hit in enumerate(sorted(hits, key=_hit_order)):
        ranked.setdefault(_key(hit) or f"{RANK_PREFIX}{position}", hit)
    return list(ranked.values())


def _hit_order(hit: KnowledgeSearchHit) -> tuple[bool, float, str, str, str]:
    score = _score(hit)
    return score is None, -(score or 0.0), _key(hit) or "", hit.vector_id or "", hit.content


def _score(hit: KnowledgeSearchHit) -> float | None:
    return usable(hit.similarity if hit.similarity is not None else hit.lexical)


def _candidate(
    hit: KnowledgeSearchHit, mode: Mode, rank: int, corpus: str, generation: int | None
) -> Candidate:
    return Candidate(
        # A row without any identity is known by its rank after fusion only; until then by itself.
        evidence_key=_key(hit) or f"{RANK_PREFIX}{mode.value}:{rank}",
        corpus=corpus,
        generation=generation,
        doc_id=hit.doc_id,
        chunk_index=hit.chunk_index,
        vector_id=hit.vector_id,
        doc_version=hit.doc_version,
        source=hit.source,
        title=hit.title,
        heading=hit.heading,
        content=hit.content,
        terms=hit.terms,
        char_start=hit.char_start,
        char_end=hit.char_end,
        content_sha256=hit.content_sha256,
        kb_scope=hit.kb_scope,
        category=hit.category,
        original_rank=rank,
        hit_reasons=(_REASON[mode],),
        score=reciprocal(rank),
        dense=usable(hit.similarity),
        lexical=usable(hit.lexical),
        fused=reciprocal(rank),
        metadata=_metadata(hit, corpus),
        expires_at=hit.expires_at,
    )


def _metadata(hit: KnowledgeSearchHit, corpus: str) -> str:
    """What the rules of a corpus of items sort by; files have no such rules."""
    wanted = hit.metadata and scope_columns(corpus)
    return json.dumps(hit.metadata, ensure_ascii=False) if wanted else ""


def _key(hit: KnowledgeSearchHit) -> str | None:
    """The evidence key; ``None`` for a row without identity, which only its rank could name."""
    key = evidence_key(hit.doc_id, hit.chunk_index, hit.vector_id, 0)
    return None if key == f"{RANK_PREFIX}0" else key


def _united(one: Candidate, other: Candidate) -> Candidate:
    higher, lower = (one, other) if one.original_rank <= other.original_rank else (other, one)
    fused = (one.fused or 0.0) + (other.fused or 0.0)
    return replace(
        higher,
        hit_reasons=tuple(dict.fromkeys((*one.hit_reasons, *other.hit_reasons))),
        dense=_first(higher.dense, lower.dense),
        lexical=_first(higher.lexical, lower.lexical),
        fused=fused,
        score=fused,
    )


def _single(candidate: Candidate) -> Candidate:
    return replace(candidate, score=_first(candidate.dense, candidate.lexical), fused=None)


def _at_rank(candidate: Candidate, rank: int) -> Candidate:
    key = evidence_key(candidate.doc_id, candidate.chunk_index, candidate.vector_id, rank)
    return replace(candidate, original_rank=rank, evidence_key=key)


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)
