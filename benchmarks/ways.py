"""The ways to look something up that are measured."""

from __future__ import annotations

from dataclasses import dataclass

from pincite.store.port import Mode

# A lookup that comes too late degrades: what is measured then is another lookup.
NO_HURRY_MS = 60_000


@dataclass(frozen=True)
class Way:
    """A mode of search, with the reranker or without."""

    title: str
    mode: Mode
    rerank: bool = False


DENSE = Way("dense", Mode.DENSE)
LEXICAL = Way("lexical", Mode.LEXICAL)
HYBRID = Way("hybrid", Mode.HYBRID)
RERANKED = Way("hybrid + rerank", Mode.HYBRID, rerank=True)
WAYS = (DENSE, LEXICAL, HYBRID, RERANKED)
