"""One lookup as one of the corpora saw it that it asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pincite.catalog.lookup_facts import LookupFacts

# The stages of a lookup, in their order.
STAGES = (
    "l0",
    "embed",
    "search",
    "current",
    "threshold",
    "rerank",
    "adjust",
    "sort",
    "merge",
    "document_cap",
    "blend",
    "return_n",
    "pack",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """How a lookup went in one corpus; ``at`` is epoch ms.

    ``stages`` has the ms that it spent in each stage, in all attempts together, those included
    that the corpora share; nothing of an answer that was at hand.
    """

    corpus: str
    at: int
    latency_ms: int
    evidence_status: str
    hit: bool
    degradations: frozenset[str]
    stages: dict[str, int]
    cached: bool
    by_legacy: bool


def asked_of(facts: LookupFacts, corpus: str) -> Asked:
    """The lookup as this corpus saw it."""
    return Asked(
        corpus,
        facts.created_at,
        facts.latency_ms,
        facts.evidence_status,
        corpus in facts.hits,
        frozenset(code for names, code in facts.degradations if corpus in names.split(",")),
        _stages(facts, corpus),
        facts.cached,
        corpus in facts.legacy,
    )


def each_asked(facts: LookupFacts) -> Iterator[Asked]:
    """The lookup as each of its corpora saw it."""
    return (asked_of(facts, corpus) for corpus in facts.corpora)


def _stages(facts: LookupFacts, corpus: str) -> dict[str, int]:
    spent: dict[str, int] = {}
    for names, stage, latency_ms in facts.stages:
        if names == corpus or ("," in names and corpus in names.split(",")):
            spent[stage] = spent.get(stage, 0) + latency_ms
    return spent
