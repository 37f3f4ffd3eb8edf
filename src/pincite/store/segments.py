"""Scores of full text that compare across the segments of a collection.

Milvus Lite weighs a word by how rare it is in its segment, and in a segment of one row no word is
rare: with 2,000 rows in one segment and a new row in another, the new row came last of all
matches although it alone held the two rare words of the query. So rows are looked for once more
by the words that few of the first hits have, and a row's score is at least what its rare words
are worth by how many rows of the whole collection have them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean

from pincite.store.bm25 import idf, weight
from pincite.store.port import Hit
from pincite.store.reading import by_score

# A word is rare when fewer rows than this have it.
ROWS_PER_WORD = 10
# Words looked for once more; each costs time, the rarest come first.
MAX_WORDS = 8
# A word that this share of the first hits have did its part in their order.
_COMMON = 0.5


@dataclass(frozen=True)
class Row:
    """A hit, and how often the row has each of its words."""

    hit: Hit
    words: Counter[str]


def rows_of(hits: Iterable[Hit], column: str) -> list[Row]:
    """The hits with their words, which the ``column`` has with spaces between."""
    return [Row(hit, Counter(hit.columns[column].split())) for hit in hits]


def holding(terms: str, rows: Iterable[Row]) -> dict[str, int]:
    """How many of the rows have each word of the query."""
    counts = dict.fromkeys(terms.split(), 0)
    for row in rows:
        for word in counts.keys() & row.words.keys():
            counts[word] += 1
    return counts


def doubtful_words(terms: str, first: list[Row]) -> list[str]:
    """Words of the query whose rows may have sunk, the rarest among the first hits first."""
    counts = holding(terms, first)
    doubtful = [word for word, count in counts.items() if count < _COMMON * len(first)]
    return sorted(doubtful, key=lambda word: (counts[word], -len(word)))[:MAX_WORDS]


def lifted(rows: Iterable[Row], rare: Mapping[str, int], total: int) -> list[Hit]:
    """The hits, each once, score descending, then key ascending.

    Args:
        rows: What was found. Of a row that comes twice the first counts.
        rare: How many rows of the collection have each of these words.
        total: How many rows the collection has.
    """
    unique: dict[str, Row] = {}
    for row in rows:
        unique.setdefault(row.hit.vector_id, row)
    mean = fmean(row.words.total() for row in unique.values()) if unique else 1.0
    worth = {word: idf(total, count) for word, count in rare.items()}
    return by_score(
        replace(row.hit, lexical=max(row.hit.lexical or 0.0, _least(row.words, worth, mean)))
        for row in unique.values()
    )


def _least(words: Counter[str], worth: Mapping[str, float], mean: float) -> float:
    """What the words are worth together; words of the query that are left out add nothing."""
    length, shared = words.total(), sorted(words.keys() & worth.keys())
    return sum(worth[word] * weight(words[word], length, mean) for word in shared)
