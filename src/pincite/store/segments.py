"""Scores of full text that compare across the segments of a collection.

Milvus Lite weighs a word by how rare it is in its segment. In a segment of one row every word is
common: with 2,000 rows in one segment and a new row in another, the new row came last of all
matches although it alone held the two rare words of the query. So the words of the query are
searched one by one as well, and a row's score is at least what its words are worth by how many
rows of the whole collection have them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from pincite.store.bm25 import rarity, weight
from pincite.store.port import Hit
from pincite.store.reading import by_score

# Rows looked at for each word: a word that fewer rows have is known exactly.
WORD_HITS = 50
# Words looked at; a question in Chinese has about twenty pairs of characters.
MAX_WORDS = 24


def single_words(terms: str) -> list[str]:
    """The words to search one by one, longest first: those are the rarer ones."""
    unique = sorted(dict.fromkeys(terms.split()), key=len, reverse=True)
    return unique[:MAX_WORDS]


@dataclass(frozen=True)
class Found:
    """Hits of the whole query and of single words, and what they were searched in.

    ``hits`` is how many each search asked for, ``rows`` how many the collection has. The column
    ``words`` of every hit has the row's words.
    """

    whole: Sequence[Hit]
    by_word: Mapping[str, Sequence[Hit]]
    hits: int
    rows: int
    words: str


def weighed(terms: str, found: Found) -> list[Hit]:
    """All hits, each once, score descending, then key ascending.

    ``raw_score`` is the store's for the whole query, or for one word where the row was not among
    the hits of that.
    """
    hits = {hit.vector_id: hit for hit in _all(found)}
    rows = {key: Counter(hit.columns[found.words].split()) for key, hit in hits.items()}
    mean = fmean(row.total() for row in rows.values()) if rows else 1.0
    worth = {word: _worth(word, found, rows, mean) for word in found.by_word}
    wanted = {
        word: times * worth[word] for word, times in Counter(terms.split()).items() if word in worth
    }
    at_least = {key: _score(row, wanted, mean) for key, row in rows.items()}
    whole = {hit.vector_id: hit.lexical or 0.0 for hit in found.whole}
    return by_score(
        replace(hit, lexical=max(whole.get(key, 0.0), at_least[key])) for key, hit in hits.items()
    )


def _all(found: Found) -> Iterator[Hit]:
    for hits in found.by_word.values():
        yield from hits
    # Last, so that the score of the whole query is the one that stays.
    yield from found.whole


def _worth(word: str, found: Found, rows: Mapping[str, Counter[str]], mean: float) -> float:
    """What one occurrence of the word is worth.

    Of a word with more rows than were asked for the store's own scores say it: nearly all of
    them come from large segments.
    """
    hits = found.by_word[word]
    if len(hits) < found.hits:
        return rarity(found.rows, len(hits))
    shares = [
        (hit.lexical or 0.0) / weight(row[word], row.total(), mean)
        for hit in hits
        if word in (row := rows[hit.vector_id])
    ]
    return median(shares) if shares else 0.0


def _score(row: Counter[str], wanted: Mapping[str, float], mean: float) -> float:
    length, shared = row.total(), row.keys() & wanted.keys()
    return sum(wanted[word] * weight(row[word], length, mean) for word in sorted(shared))
