"""The rules between search and packing, one pure function each.

A rule takes candidates in order and returns those it keeps, in order, and those it drops with
the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pincite.retrieval.candidates import LEXICAL, Candidate, best_dense, usable

BELOW_THRESHOLD = "below_threshold"
DUPLICATE = "duplicate"
DOCUMENT_CAP = "document_cap"
RETURN_N = "return_n"
BUDGET = "budget"

NONE = "NONE"
WEAK = "WEAK"
SUFFICIENT = "SUFFICIENT"

_SCORES = ("dense", "lexical", "fused", "rerank", "trust")


@dataclass(frozen=True)
class Dropped:
    """A candidate that fell out."""

    evidence_key: str
    corpus: str
    reason: str
    score: float | None


@dataclass(frozen=True)
class Kept:
    """What a rule keeps, in order, and what it drops."""

    candidates: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...] = ()


def drop(candidate: Candidate, reason: str) -> Dropped:
    """The trace's line of a candidate that falls out."""
    return Dropped(candidate.evidence_key, candidate.corpus, reason, candidate.score)


def threshold(candidates: Sequence[Candidate], line: float | None) -> Kept:
    """Keep what reaches the line of dense similarity; ``None`` keeps all.

    What the lexical leg found without a dense score is exempt. What only the dense leg found,
    with a score that cannot be used, has not shown that it reaches the line.
    """
    if line is None:
        return Kept(tuple(candidates))
    return _split(
        candidates, [_reaches(candidate, line) for candidate in candidates], BELOW_THRESHOLD
    )


def _reaches(candidate: Candidate, line: float) -> bool:
    if candidate.dense is None:
        return LEXICAL in candidate.hit_reasons
    return candidate.dense >= line


def order(candidates: Sequence[Candidate]) -> Kept:
    """Score descending, then evidence key ascending; a missing score comes last."""
    return Kept(tuple(sorted(candidates, key=_order)))


def _order(candidate: Candidate) -> tuple[bool, float, str]:
    score = usable(candidate.score)
    return score is None, -(score or 0.0), candidate.evidence_key


def merge(candidates: Sequence[Candidate]) -> Kept:
    """One candidate for each evidence key of a corpus: the highest-ranked one.

    It takes over the hit reasons of the others and the scores that it lacks itself.
    """
    merged: dict[tuple[str, str], Candidate] = {}
    dropped: list[Dropped] = []
    for candidate in candidates:
        key = (candidate.corpus, candidate.evidence_key)
        if key in merged:
            merged[key] = _united(merged[key], candidate)
            dropped.append(drop(candidate, DUPLICATE))
        else:
            merged[key] = candidate
    return Kept(tuple(merged.values()), tuple(dropped))


def _united(kept: Candidate, other: Candidate) -> Candidate:
    reasons = tuple(dict.fromkeys((*kept.hit_reasons, *other.hit_reasons)))
    lacking = {
        name: getattr(other, name)
        for name in _SCORES
        if getattr(kept, name) is None and getattr(other, name) is not None
    }
    return replace(kept, hit_reasons=reasons, **lacking)


def cap(candidates: Sequence[Candidate], per_document: int) -> Kept:
    """At most ``per_document`` of one document; without ``doc_id`` each stands for itself."""
    seen: Counter[tuple[str, str]] = Counter()
    fits: list[bool] = []
    for candidate in candidates:
        if candidate.doc_id is None:
            fits.append(True)
            continue
        document = (candidate.corpus, candidate.doc_id)
        seen[document] += 1
        fits.append(seen[document] <= per_document)
    return _split(candidates, fits, DOCUMENT_CAP)


def cut(candidates: Sequence[Candidate], return_n: int) -> Kept:
    """The first ``return_n``."""
    return _split(candidates, [rank < return_n for rank in range(len(candidates))], RETURN_N)


def evidence_status(candidates: Sequence[Candidate], weak: float | None) -> str:
    """``NONE`` without evidence, ``WEAK`` when its best cosine is under the line.

    Evidence without any usable score is ``WEAK`` too; found by its words alone it is not.
    """
    if not candidates:
        return NONE
    best = best_dense(candidates)
    if best is None:
        by_words = any(candidate.lexical is not None for candidate in candidates)
        return SUFFICIENT if by_words else WEAK
    return WEAK if weak is not None and best < weak else SUFFICIENT


def _split(candidates: Sequence[Candidate], keep: Sequence[bool], reason: str) -> Kept:
    pairs = list(zip(candidates, keep, strict=True))
    return Kept(
        tuple(candidate for candidate, kept in pairs if kept),
        tuple(drop(candidate, reason) for candidate, kept in pairs if not kept),
    )
