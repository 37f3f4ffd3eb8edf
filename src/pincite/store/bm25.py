"""BM25 as Lucene and Milvus compute it: what the words of a row are worth for a query.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with the
inverse document frequency that cannot become negative.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

K1 = 1.2
B = 0.75


def idf(rows: int, holding: int) -> float:
    """The inverse document frequency of a word that ``holding`` of ``rows`` rows have."""
    return math.log1p((max(rows, holding) - holding + 0.5) / (holding + 0.5))


def weight(count: int, length: int, mean_length: float) -> float:
    """What ``count`` occurrences count for in a row of ``length`` words; 0 to ``K1 + 1``."""
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean_length))


def scores(query: str, rows: Mapping[str, Counter[str]]) -> dict[str, float]:
    """The score of every row that has a word of the query, above 0.

    Args:
        query: Words, joined by spaces; a word that comes twice counts twice.
        rows: For each key how often the row has each of its words.
    """
    wanted = Counter(query.split())
    lengths = {key: words.total() for key, words in rows.items()}
    mean = sum(lengths.values()) / max(len(rows), 1)
    found: dict[str, float] = {}
    for word, times in wanted.items():
        holding = [key for key, words in rows.items() if word in words]
        worth = times * idf(len(rows), len(holding))
        for key in holding:
            value = worth * weight(rows[key][word], lengths[key], mean)
            found[key] = found.get(key, 0.0) + value
    return found
