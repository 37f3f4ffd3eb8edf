"""Hints for a query from the documents' metadata: a likely category, and words to search beside.

Hints are never evidence: they say where to look first and by which words else, and the dense
query stays as it is. What they rest on is counted here and nowhere else:

- A phrase of the query that is part of a longer one that was found as well does not count.
- A phrase says nothing of the category when it stands in 200 documents or more, or when less
  than two thirds of its documents are in one category; no category is one of them. A category's
  own name speaks for that category, however many documents it has.
- A vote weighs by what the phrase is to the document, and by how rare it is. The category with
  two thirds of all weight is predicted if that weight is at least ``LEAST`` and rests on more
  than a single word that is nothing but a keyword, tag, title or alias somewhere.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pincite.analysis import analyze
from pincite.catalog.l0 import L0, PER_PHRASE, Described, Posting
from pincite.catalog.phrases import is_character, phrase_of, phrases_in, units_of_phrase
from pincite.catalog.postings import ALIAS, CATEGORY, KEYWORD, TAG, TITLE

NAME_WEIGHT = 2.0
WEIGHTS = {ALIAS: 2.0, TITLE: 2.0, KEYWORD: 1.0, TAG: 1.0}
LEAST = 1.5
CLEAR = 2 / 3

FEW_DOCUMENTS = 3
MAX_SOURCES = 12
FIRST_KEYWORDS = 3
MAX_EXPANSION = 8
_EXPANDING = (ALIAS, TITLE, KEYWORD)


@dataclass(frozen=True)
class Hints:
    """What the metadata says of a query.

    ``category`` is ``""`` without clear evidence, ``expansion`` holds analysed terms to add to
    the lexical leg, best first, at most 8; ``matched`` the phrases found, in normal form.
    """

    category: str = ""
    expansion: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Match:
    """A phrase of the query and where it stands."""

    phrase: str
    postings: tuple[Posting, ...]

    @property
    def documents(self) -> dict[str, Posting]:
        """The documents that have it as more than their category's name."""
        return {one.doc_id: one for one in self.postings if one.kind != CATEGORY}

    @property
    def rarity(self) -> float:
        """1 for a phrase of one document, falling to 0 for one of ``PER_PHRASE``.

        The inverse document frequency among as many documents as are counted at most.
        """
        return 1 - math.log(max(1, len(self.documents))) / math.log(PER_PHRASE)

    @property
    def is_weak(self) -> bool:
        """A single word, or two characters: it may stand in a query by chance."""
        parts = units_of_phrase(self.phrase)
        return len(parts) == 1 or (len(parts) == 2 and all(map(is_character, parts)))


@dataclass(frozen=True)
class _Vote:
    """What one phrase says for one category; strong: it may say so alone."""

    category: str
    weight: float
    is_strong: bool


def hints_for(
    l0: L0,
    query: str,
    corpus: str,
    kb_scope: str,
    exclude_scopes: Sequence[str],
    timeout_s: float,
) -> Hints:
    """The hints of a query; blocks, so asynchronous callers run it in a thread.

    Raises:
        CatalogUnreachable: The catalogue does not answer within ``timeout_s``.
    """
    end = time.monotonic() + timeout_s
    where = (kb_scope, exclude_scopes)
    found = l0.match(corpus, phrases_in(query), *where, timeout_s=timeout_s)
    matches = longest(found)
    sources = specific(matches)
    about: Mapping[str, Described] = {}
    if sources:
        about = l0.described(corpus, list(sources), *where, timeout_s=end - time.monotonic())
    return Hints(
        category_of(matches), expansion_of(query, sources, about), tuple(m.phrase for m in matches)
    )


def longest(postings: Iterable[Posting]) -> list[Match]:
    """The phrases with their postings, in order, without those that are part of another."""
    by_phrase: dict[str, list[Posting]] = defaultdict(list)
    for one in postings:
        by_phrase[one.phrase].append(one)
    parts = {phrase: units_of_phrase(phrase) for phrase in by_phrase}
    return [
        Match(phrase, tuple(found))
        for phrase, found in by_phrase.items()
        if not any(_is_part(parts[phrase], other) for other in parts.values())
    ]


def category_of(matches: Sequence[Match]) -> str:
    """The category that the phrases clearly point to, else ``""``."""
    votes = [vote for match in matches for vote in _votes(match)]
    weights: dict[str, float] = defaultdict(float)
    for vote in votes:
        weights[vote.category] += vote.weight
    best = max(sorted(weights), key=weights.__getitem__, default="")
    if not best or weights[best] < max(LEAST, CLEAR * sum(weights.values())):
        return ""
    backing = [vote for vote in votes if vote.category == best]
    return best if len(backing) > 1 or any(vote.is_strong for vote in backing) else ""


def specific(matches: Iterable[Match]) -> dict[str, float]:
    """Documents that a phrase names, with the weight of the best: at most 12, best first."""
    found: dict[str, float] = {}
    for match in matches:
        if len({posting.doc_id for posting in match.postings}) > FEW_DOCUMENTS:
            continue
        for doc_id, posting in match.documents.items():
            if posting.kind in _EXPANDING:
                weight = WEIGHTS[posting.kind] * match.rarity
                found[doc_id] = max(found.get(doc_id, 0.0), weight)
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return dict(best[:MAX_SOURCES])


def expansion_of(
    query: str, sources: Mapping[str, float], about: Mapping[str, Described]
) -> tuple[str, ...]:
    """Terms of the documents' aliases, titles and first keywords that the query lacks.

    Best first: by the match that led to the document, and by the field that has the term.
    """
    asked = set(analyze(query))
    scores: dict[str, float] = defaultdict(float)
    for doc_id, weight in sources.items():
        if doc_id in about:
            for term, worth in _terms(about[doc_id]).items():
                scores[term] += weight * worth
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return tuple(term for term, _ in best if term not in asked)[:MAX_EXPANSION]


def _votes(match: Match) -> list[_Vote]:
    named = sorted({one.category for one in match.postings if one.kind == CATEGORY})
    votes = [_Vote(category, NAME_WEIGHT / len(named), is_strong=True) for category in named]
    strong = not match.is_weak
    return votes + [_Vote(c, w, is_strong=strong) for c, w in _shares(match).items()]


def _shares(match: Match) -> dict[str, float]:
    """The weight of a phrase, parted among the categories of its documents."""
    found = match.documents
    if not found or len(match.postings) >= PER_PHRASE:
        return {}
    weights: dict[str, float] = defaultdict(float)
    share = match.rarity / len(found)
    for one in found.values():
        weights[one.category] += WEIGHTS[one.kind] * share
    return dict(weights) if max(weights.values()) >= CLEAR * sum(weights.values()) else {}


def _terms(one: Described) -> dict[str, float]:
    """Terms of a document's names, each with the worth of the best field that has it.

    Keywords name what else the document is about rather than the same by another name: the
    first few have to do.
    """
    fields = ((one.aliases, 3.0), ((one.title,), 2.0), (one.keywords[:FIRST_KEYWORDS], 1.0))
    worth: dict[str, float] = {}
    for texts, value in fields:
        for term in (term for text in texts for term in _words_of_name(text)):
            worth.setdefault(term, value)
    return worth


def _words_of_name(text: str) -> list[str]:
    """Its terms; none of a text that is too long for a name. A single character is no word."""
    return [term for term in analyze(text) if not is_character(term)] if phrase_of(text) else []


def _is_part(inner: Sequence[str], outer: Sequence[str]) -> bool:
    """Whether the units stand side by side in a longer phrase."""
    if len(inner) >= len(outer):
        return False
    starts = range(len(outer) - len(inner) + 1)
    return any(outer[start : start + len(inner)] == inner for start in starts)
