"""The embedded reranker: scores of the legs and words of the query, no model and no download.

A passage's score is the weighted sum of four parts, each in [0, 1] among the passages of the call:

- ``D``: its cosine, from the lowest to the highest; 0 where the dense leg did not find it.
- ``L``: its BM25 score likewise.
- ``P``: the best window of ``WINDOW`` words: how much of the query's rare words stand together.
- ``H``: how much of the query's rare words its title and heading hold.

A convex combination of normalised scores orders better than ranks do (Bruch, Gai and Ingber, ACM
TOIS 2023). A word is rare by its document frequency among the passages themselves, since no
statistics of the corpus are at hand. The weights were fitted on one half of the queries of the
sets in ``benchmarks/quality.py`` and are reported there on the other half.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence

from pincite.analysis import analyze
from pincite.retrieval.rerank.port import Passage, Ranked

WINDOW = 12
WEIGHT_DENSE = 1.0
WEIGHT_LEXICAL = 0.8
WEIGHT_WINDOW = 1.35
WEIGHT_HEADING = 2.75

Weights = Mapping[str, float]


class BlendReranker:
    """Reorders by what the legs and the words say; takes some milliseconds in a thread."""

    @property
    def name(self) -> str:
        return "blend"

    async def rerank(
        self, query: str, passages: Sequence[Passage], top_k: int, timeout_s: float
    ) -> list[Ranked]:
        """One score for each of the first ``top_k`` passages, in their order."""
        scores = await asyncio.to_thread(blended, query, passages[:top_k])
        return [Ranked(index, score) for index, score in enumerate(scores)]

    async def close(self) -> None:
        """Nothing is open."""


def blended(query: str, passages: Sequence[Passage]) -> list[float]:
    """The passages' scores, in their order, in [0, 5.9]."""
    above = [analyze(f"{passage.title}\n{passage.heading}") for passage in passages]
    texts = [analyze(passage.text) for passage in passages]
    rare = rarity(set(analyze(query)), [{*a, *t} for a, t in zip(above, texts, strict=True)])
    dense = _spread([passage.dense for passage in passages])
    lexical = _spread([passage.lexical for passage in passages])
    windows = _share([best_window(terms, rare) for terms in texts])
    headings = _share([_held(terms, rare) for terms in above])
    return [
        WEIGHT_DENSE * d + WEIGHT_LEXICAL * x + WEIGHT_WINDOW * p + WEIGHT_HEADING * h
        for d, x, p, h in zip(dense, lexical, windows, headings, strict=True)
    ]


def rarity(terms: set[str], passages: Sequence[set[str]]) -> dict[str, float]:
    """How much each query term says: BM25's inverse document frequency among the passages."""
    counts = Counter(term for held in passages for term in held & terms)
    return {
        term: math.log(1 + (len(passages) - counts[term] + 0.5) / (counts[term] + 0.5))
        for term in sorted(terms)
    }


def best_window(terms: Sequence[str], rare: Weights) -> float:
    """The most weight of different query terms within ``WINDOW`` terms of the text."""
    inside: deque[tuple[int, str]] = deque()
    counts: Counter[str] = Counter()
    best = weight = 0.0
    for place, term in enumerate(terms):
        if term not in rare:
            continue
        inside.append((place, term))
        counts[term] += 1
        weight += rare[term] if counts[term] == 1 else 0.0
        while inside[0][0] <= place - WINDOW:
            _, gone = inside.popleft()
            counts[gone] -= 1
            weight -= rare[gone] if not counts[gone] else 0.0
        best = max(best, weight)
    return best


def _held(terms: Sequence[str], rare: Weights) -> float:
    return sum(rare[term] for term in sorted(set(terms) & rare.keys()))


def _spread(scores: Sequence[float | None]) -> list[float]:
    """From the lowest to the highest as 0 to 1; equal ones are 1, a missing one is 0."""
    given = [score for score in scores if score is not None]
    low, high = min(given, default=0.0), max(given, default=0.0)
    return [
        0.0 if score is None else (score - low) / (high - low) if high > low else 1.0
        for score in scores
    ]


def _share(values: Sequence[float]) -> list[float]:
    """Each as a share of the highest; 0 where all are 0."""
    most = max(values, default=0.0)
    return [value / most if most else 0.0 for value in values]
