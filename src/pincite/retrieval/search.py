"""The attempts of a search, and when one falls back to the next."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pincite.embedding.port import ScoreProfile, Vectors
from pincite.errors import ServiceError, StoreUnreachable
from pincite.retrieval.candidates import COLUMNS, Candidate, best_dense, dense_candidates
from pincite.retrieval.postprocess import merge, threshold
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.trace import Attempt, Deadline, Stopwatch
from pincite.scopes import scope_filter
from pincite.store.filters import Eq, Filter, all_of, folded, render
from pincite.store.port import Hit, Mode, VectorQuery, VectorStore

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
class Tried:
    """One attempt, what it found, best first, and the error where it failed."""

    record: Attempt
    candidates: tuple[Candidate, ...] = ()
    error: ServiceError | None = None


@dataclass(frozen=True)
class Where:
    """What every attempt of one lookup searches: the pinned generation, with which vector."""

    generation: int
    collection: str
    vector: Vectors


def lines_of(request: LookupRequest, profile: ScoreProfile) -> Lines:
    """The request's lines where it has them, else the model's; low quality from the threshold."""
    least = _first(request.threshold, profile.threshold)
    low = _first(request.low_quality, profile.low_quality)
    if low is not None and least is not None:
        low = max(low, least)
    return Lines(least, low, _first(request.weak, profile.weak))


def first_attempt(request: LookupRequest) -> str:
    """The attempt to begin with: filtered when there is a category hint."""
    return FILTERED if request.category else UNFILTERED


def attempt_filter(request: LookupRequest, name: str) -> Filter | None:
    """Scopes always; the category in the filtered attempt only."""
    scope = scope_filter(request.kb_scope, request.exclude_scopes, request.scope_ids())
    hint = Eq("category", request.category) if name == FILTERED else None
    return all_of([scope, hint])


async def try_search(
    store: VectorStore,
    where: Where,
    request: LookupRequest,
    name: str,
    lines: Lines,
    deadline: Deadline,
) -> Tried:
    """One attempt; a store that fails is an outcome, not an exception."""
    watch = Stopwatch()
    filter = attempt_filter(request, name)
    try:
        hits = await _search(store, where, request.retrieve_k, filter, deadline)
    except ServiceError as error:
        return Tried(_record(name, filter, (), 0, watch, FAILED), error=error)
    found = merge(dense_candidates(hits, request.corpus, where.generation)).candidates
    record = _record(name, filter, found, len(hits), watch, outcome(found, lines))
    return Tried(record, found)


async def _search(
    store: VectorStore, where: Where, limit: int, filter: Filter | None, deadline: Deadline
) -> list[Hit]:
    left = deadline.left_s()
    query = VectorQuery(where.vector.tolist(), limit, filter, COLUMNS, timeout_s=left)
    try:
        async with asyncio.timeout(left):
            return await store.search(where.collection, query)
    except TimeoutError as exc:
        raise StoreUnreachable(
            f"The store did not answer within {deadline.timeout_ms} ms.",
            "Check that the store runs; rag.retrieve.timeout-ms gives it more time.",
        ) from exc


def outcome(candidates: tuple[Candidate, ...], lines: Lines) -> str:
    """What an attempt is worth by the lines."""
    evidence = threshold(candidates, lines.threshold).candidates
    if not evidence:
        return NO_EVIDENCE
    best = best_dense(evidence)
    weak = lines.low_quality is not None and (best is None or best < lines.low_quality)
    return LOW_QUALITY if weak else EVIDENCE


def fallback_reason(tried: Tried) -> str | None:
    """Why the filtered attempt calls for the retry, ``None`` when it does not."""
    return REASONS.get(tried.record.outcome) if tried.record.name == FILTERED else None


def better(first: Tried, retry: Tried) -> Tried:
    """The retry, unless it failed or found nothing where the first attempt had something."""
    lost = retry.record.outcome in (FAILED, NO_EVIDENCE)
    return first if lost and first.record.outcome == LOW_QUALITY else retry


def _record(
    name: str,
    filter: Filter | None,
    found: tuple[Candidate, ...],
    hit_count: int,
    watch: Stopwatch,
    outcome: str,
) -> Attempt:
    shown = folded(filter)
    return Attempt(
        name=name,
        mode=Mode.DENSE.value,
        filter="" if isinstance(shown, bool) else render(shown),
        hit_count=hit_count,
        top_score=best_dense(found),
        latency_ms=watch.ms,
        outcome=outcome,
    )


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)
