"""Words of candidates: how rare those of the query are, and what a text holds of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from pincite.analysis import above_terms, analyze
from pincite.store.bm25 import idf

Weights = Mapping[str, float]


def terms_of(title: str, heading: str, content: str, stored: str) -> tuple[list[str], list[str]]:
    """Terms of what stands above a passage, and of the passage.

    ``stored`` are the row's terms, ``""`` where it has none: analysing takes longer than all else
    that a lookup computes.
    """
    above = above_terms(title, heading)
    if stored:
        return above, stored.split(" ")[len(above) :]
    return above, analyze(content)


def idfs(terms: Iterable[str], texts: Sequence[Collection[str]]) -> dict[str, float]:
    """How much each query term says: BM25's inverse document frequency among these texts.

    No statistics of the corpus are at hand; the candidates of one lookup stand in for it.
    """
    wanted = set(terms)
    counts = Counter(term for text in texts for term in wanted.intersection(text))
    return {term: idf(len(texts), counts[term]) for term in sorted(wanted)}


def length(term: str) -> float:
    """How much a term says by its form alone: long words are rare; a character is a word."""
    return math.sqrt(len(term)) if term.isascii() else float(len(term))


def held(text: Collection[str], weights: Weights) -> float:
    """The weight of the terms that the text holds."""
    return sum(weight for term, weight in weights.items() if term in text)
