"""The attempts of a search, and when one falls back to the next."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from pincite.analysis import analyze
from pincite.embedding.port import ScoreProfile, Vectors
from pincite.errors import ServiceError
from pincite.retrieval.candidates import CATEGORY, L0_CATEGORY, best_dense
from pincite.retrieval.hints import Hints
from pincite.retrieval.knowledge import KnowledgeSearchRequest
from pincite.retrieval.postprocess import threshold
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.retriever import Found
from pincite.retrieval.trace import Attempt
from pincite.schemas.candidates import CANDIDATES
from pincite.scopes import EXPIRING, LEVELLED
from pincite.store.port import Mode

FILTERED = "FILTERED_VECTOR"
UNFILTERED = "UNFILTERED_VECTOR"
RETRY = "UNFILTERED_VECTOR_RETRY"

EVIDENCE = "evidence"
LOW_QUALITY = "low_quality"
NO_EVIDENCE = "no_evidence"
FAILED = "failed"

REASONS = {
    NO_EVIDENCE: "filtered_vector_no_evidence",
    LOW_QUALITY: "filtered_vector_low_quality",
    FAILED: "filtered_vector_failed",
}


@dataclass(frozen=True)
class Lines:
    """Cosines in force for one lookup; ``None`` filters nothing."""

    threshold: float | None
    low_quality: float | None
    weak: float | None


@dataclass(frozen=True)
class Question:
    """A query ready to be searched with.

    ``vector`` is ``(dim,) float32``, ``None`` without a dense leg. ``terms`` are those of the query
    itself, ``expansion`` those that hints add. ``hinted`` tells a predicted category from one that
    the caller gave.
    """

    text: str
    mode: Mode
    vector: Vectors | None
    terms: tuple[str, ...]
    category: str = ""
    hinted: bool = False
    expansion: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tried:
    """One attempt, what it found, best first, and the error where it failed."""

    record: Attempt
    candidates: pa.Table
    found: Found | None = None
    error: ServiceError | None = None


def lines_of(request: LookupRequest, profile: ScoreProfile) -> Lines:
    """The request's lines where it has them, else the model's; low quality from the threshold."""
    least = _first(request.threshold, profile.threshold)
    low = _first(request.low_quality, profile.low_quality)
    if low is not None and least is not None:
        low = max(low, least)
    return Lines(least, low, _first(request.weak, profile.weak))


def question_of(
    request: LookupRequest, text: str, hints: Hints, vector: Vectors | None
) -> Question:
    """What to search with: the caller's category before a predicted one.

    Without a vector only full text can answer; in lexical mode with one, only the dense leg.
    """
    mode = Mode.LEXICAL if vector is None else request.mode
    if vector is not None and mode is Mode.LEXICAL:
        mode = Mode.DENSE
    return Question(
        text=text,
        mode=mode,
        vector=vector,
        terms=tuple(analyze(text)),
        category=request.category or hints.category,
        hinted=not request.category and bool(hints.category),
        expansion=hints.expansion,
    )


def first_attempt(question: Question) -> str:
    """The attempt to begin with: filtered when there is a category."""
    return FILTERED if question.category else UNFILTERED


def search_request(
    request: LookupRequest, question: Question, name: str, timeout_s: float, now_ms: int
) -> KnowledgeSearchRequest:
    """What an attempt asks for: scopes always, the category in the filtered one only.

    The retry is the original query: without what hints added. ``now_ms`` (epoch, UTC) is when it
    is asked: what has expired by then is not seen.
    """
    added = () if name == RETRY else question.expansion
    ids = request.scope_ids()
    return KnowledgeSearchRequest(
        mode=question.mode,
        top_k=request.retrieve_k,
        vector=question.vector,
        terms=" ".join((*question.terms, *added)),
        kb_scope=request.kb_scope,
        exclude_scopes=request.exclude_scopes,
        scope_ids=ids,
        without_owner=not ids,
        category=question.category if name == FILTERED else "",
        timeout_s=timeout_s,
        alive_at=now_ms if request.corpus in EXPIRING else 0,
        max_sensitivity=request.max_sensitivity if request.corpus in LEVELLED else None,
    )


def tried(
    name: str, corpus: str, question: Question, found: Found, lines: Lines, latency_ms: int
) -> Tried:
    """The attempt as it went."""
    candidates = found.candidates
    if name == FILTERED:
        candidates = _with_reason(candidates, L0_CATEGORY if question.hinted else CATEGORY)
    record = Attempt(
        name=name,
        corpus=corpus,
        mode=found.mode.value,
        filter=found.filter,
        hit_count=found.hit_count,
        top_score=best_dense(candidates),
        latency_ms=latency_ms,
        outcome=outcome(found, lines),
    )
    return Tried(record, candidates, found)


def failed(
    name: str, corpus: str, question: Question, error: ServiceError, latency_ms: int
) -> Tried:
    """An attempt that failed."""
    record = Attempt(name, corpus, question.mode.value, "", 0, None, latency_ms, FAILED)
    return Tried(record, CANDIDATES.empty(), error=error)


def outcome(found: Found, lines: Lines) -> str:
    """What an attempt is worth: weak is no dense hit, or none that reaches low quality.

    Without a dense leg there is nothing to judge by, and any hit counts.
    """
    evidence = threshold(found.candidates, lines.threshold).candidates
    if not len(evidence):
        return NO_EVIDENCE
    if found.mode is Mode.LEXICAL:
        return EVIDENCE
    best = best_dense(evidence)
    weak = best is None or (lines.low_quality is not None and best < lines.low_quality)
    return LOW_QUALITY if weak else EVIDENCE


def fallback_reason(tried: Tried) -> str | None:
    """Why the filtered attempt calls for the retry, ``None`` when it does not."""
    return REASONS.get(tried.record.outcome) if tried.record.name == FILTERED else None


def better(first: Tried, retry: Tried) -> Tried:
    """The retry, unless it failed where the first attempt did not, or lost what that one had."""
    if retry.record.outcome == FAILED:
        return retry if first.record.outcome == FAILED else first
    lost = retry.record.outcome == NO_EVIDENCE and first.record.outcome == LOW_QUALITY
    return first if lost else retry


def _with_reason(candidates: pa.Table, reason: str) -> pa.Table:
    reasons = [[*given, reason] for given in candidates["hit_reasons"].to_pylist()]
    at = candidates.column_names.index("hit_reasons")
    field = CANDIDATES.schema.field("hit_reasons")
    return candidates.set_column(at, field, pa.array(reasons, field.type))


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)
