"""The embedded reranker: scores of the legs and words of the query, no model and no download.

A passage's score is ``.5 D + .5 L + R + P + H``, each in [0, 1] among the passages of the call:

- ``D``: its cosine, from the lowest to the highest; 0 where the dense leg did not find it.
- ``L``: its BM25 score likewise.
- ``R``: the reciprocal rank fusion of both, from the lowest to the highest.
- ``P``: how much of the query's rare words stands close together, within 12 and within 30 words.
- ``H``: how much of the query's rare words its title and heading hold.

Scores say more than ranks where they are far apart (Bruch, Gai and Ingber, ACM TOIS 2023), ranks
are safe where they are not. A word is rare by its document frequency among the passages
themselves, since no statistics of the corpus are at hand. The parts were chosen on one half of the
queries of the sets in ``benchmarks/quality.py``, which reports both halves.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Sequence

from pincite.analysis import analyze
from pincite.retrieval.fusion import reciprocal
from pincite.retrieval.rerank.port import Passage, Ranked
from pincite.retrieval.words import Weights, held, idfs, terms_of

WINDOWS = (12, 30)
HALF = 0.5
# A heading that holds less than this share of the query is no better for being the best one.
LEAST_HEADING = 0.3


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
    """The passages' scores, in their order, in [0, 4]."""
    both = [terms_of(one.title, one.heading, one.text, one.terms) for one in passages]
    above, texts = [pair[0] for pair in both], [pair[1] for pair in both]
    rare = idfs(analyze(query), [{*a, *t} for a, t in zip(above, texts, strict=True)])
    whole = sum(rare.values()) or 1.0
    dense = [passage.dense for passage in passages]
    lexical = [passage.lexical for passage in passages]
    parts = zip(
        _spread(dense),
        _spread(lexical),
        _spread(_fused(dense, lexical)),
        _share([_close(terms, rare) / whole for terms in texts]),
        _share([held(set(terms), rare) / whole for terms in above], LEAST_HEADING),
        strict=True,
    )
    return [HALF * d + HALF * x + r + p + h for d, x, r, p, h in parts]


def best_window(terms: Sequence[str], rare: Weights, width: int) -> float:
    """The most weight of different query terms within ``width`` terms of the text."""
    inside: deque[tuple[int, str]] = deque()
    counts: Counter[str] = Counter()
    best = weight = 0.0
    for place, term in enumerate(terms):
        if term not in rare:
            continue
        inside.append((place, term))
        counts[term] += 1
        weight += rare[term] if counts[term] == 1 else 0.0
        while inside[0][0] <= place - width:
            _, gone = inside.popleft()
            counts[gone] -= 1
            weight -= rare[gone] if not counts[gone] else 0.0
        best = max(best, weight)
    return best


def _close(terms: Sequence[str], rare: Weights) -> float:
    return sum(best_window(terms, rare, width) for width in WINDOWS) / len(WINDOWS)


def _fused(*legs: Sequence[float | None]) -> list[float | None]:
    """The sum of each passage's reciprocal ranks in the legs that found it; equal scores tie."""
    fused = [0.0] * len(legs[0])
    for leg in legs:
        ranked = sorted((score for score in leg if score is not None), reverse=True)
        for place, score in enumerate(leg):
            fused[place] += 0.0 if score is None else reciprocal(ranked.index(score) + 1)
    return list(fused)


def _spread(scores: Sequence[float | None]) -> list[float]:
    """From the lowest to the highest as 0 to 1; equal ones are 1, a missing one is 0."""
    given = [score for score in scores if score is not None]
    low, high = min(given, default=0.0), max(given, default=0.0)
    return [
        0.0 if score is None else (score - low) / (high - low) if high > low else 1.0
        for score in scores
    ]


def _share(values: Sequence[float], least: float = 0.0) -> list[float]:
    """Each as a share of the highest, or of ``least`` where none reaches it; 0 where all are 0."""
    most = max((*values, least))
    return [value / most if most else 0.0 for value in values]
