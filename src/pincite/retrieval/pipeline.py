"""The lookup: its order, branches and fallbacks, written once over a set of steps."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from pincite.catalog.activity import LookupLine
from pincite.catalog.catalog import Catalog
from pincite.catalog.generations import Generation
from pincite.embedding.port import Embedder
from pincite.recipe import Recipe
from pincite.retrieval.candidates import Candidate
from pincite.retrieval.packing import Packed
from pincite.retrieval.postprocess import evidence_status
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.result import LookupResult
from pincite.retrieval.search import (
    RETRY,
    Lines,
    Tried,
    Where,
    better,
    fallback_reason,
    first_attempt,
    lines_of,
)
from pincite.retrieval.steps import DIRECT, LookupSteps
from pincite.retrieval.trace import Deadline, Stopwatch, Trace
from pincite.store.port import Mode, VectorStore

logger = logging.getLogger(__name__)

RECORD_TIMEOUT_S = 0.5


@dataclass(frozen=True)
class LookupParts:
    """The adapters of a lookup; ``embedder_for`` gives the embedder of a generation's recipe."""

    catalog: Catalog
    store: VectorStore
    embedder_for: Callable[[Recipe], Embedder]


async def lookup(
    request: LookupRequest, parts: LookupParts, steps: LookupSteps = DIRECT
) -> LookupResult:
    """Evidence for a query from one corpus, and how it was found.

    The live generation is pinned once, at the start. What fails on the way and can be done
    without is a degradation of the answer.

    Raises:
        ServiceError: There is no way at all to search; the error of the service that failed.
        EmbedderChanged: The generation's embedder is not at hand.
        RequestInvalid: The embedder refuses the query.
    """
    trace = Trace(request.trace_id) if request.trace_id else Trace()
    result = await _answer(request, parts, steps, trace)
    await _record(parts.catalog, result)
    _log(result)
    return result


async def _answer(
    request: LookupRequest, parts: LookupParts, steps: LookupSteps, trace: Trace
) -> LookupResult:
    query = steps.transform(request.query)
    trace.stage("transform", 1, 1)
    if not request.enabled:
        trace.degrade("lookup", "rag_disabled", "Retrieval is switched off by rag.enabled.")
        return _result(request, query, trace)
    deadline = Deadline(request.timeout_ms)
    generation = await asyncio.to_thread(parts.catalog.generations.live, request.corpus)
    if generation is None:
        trace.degrade("lookup", "corpus_empty", f"Corpus {request.corpus!r} holds nothing yet.")
        return _result(request, query, trace)
    _note_unsupported(request, trace)
    embedder = parts.embedder_for(generation.recipe)
    lines = lines_of(request, embedder.info.profile)
    where = await _embed(steps, embedder, query, generation, deadline, trace)
    found = await _search(request, parts.store, steps, where, lines, deadline, trace)
    packed = _postprocess(found, request, lines, embedder, steps, trace)
    return _result(request, query, trace, generation.number, packed, lines.weak)


def _note_unsupported(request: LookupRequest, trace: Trace) -> None:
    trace.stage("l0", 0, 0)
    if request.mode is not Mode.DENSE:
        mode = request.mode.value
        trace.degrade(
            "search", f"{mode}_unsupported", f"There is no {mode} search; the dense leg answers."
        )
    if request.rerank:
        trace.degrade("rerank", "rerank_unsupported", "There is no reranker; the order is kept.")


async def _embed(
    steps: LookupSteps,
    embedder: Embedder,
    query: str,
    generation: Generation,
    deadline: Deadline,
    trace: Trace,
) -> Where:
    watch = Stopwatch()
    vector = await steps.embed(embedder, query, generation.recipe.dim, deadline)
    trace.stage("embed", 1, 1, watch.ms)
    return Where(generation.number, generation.collection, vector)


async def _search(
    request: LookupRequest,
    store: VectorStore,
    steps: LookupSteps,
    where: Where,
    lines: Lines,
    deadline: Deadline,
    trace: Trace,
) -> tuple[Candidate, ...]:
    first = await steps.search(store, where, request, first_attempt(request), lines, deadline)
    _note_attempt(first, trace)
    reason = fallback_reason(first)
    if reason is None:
        return _selected(first, first, trace)
    trace.fallback_reason = reason
    retry = await steps.search(store, where, request, RETRY, lines, deadline)
    _note_attempt(retry, trace)
    return _selected(first, better(first, retry), trace)


def _note_attempt(tried: Tried, trace: Trace) -> None:
    record = tried.record
    trace.attempts.append(record)
    trace.stage("search", record.hit_count, len(tried.candidates), record.latency_ms)
    if tried.error is not None:
        trace.degrade("search", tried.error.code.lower(), f"{record.name} failed.")


def _selected(first: Tried, chosen: Tried, trace: Trace) -> tuple[Candidate, ...]:
    if chosen.error is not None:
        # Both failed, or the only one: what failed first says most about why.
        raise first.error or chosen.error
    trace.selected_attempt = chosen.record.name
    return chosen.candidates


def _postprocess(
    found: tuple[Candidate, ...],
    request: LookupRequest,
    lines: Lines,
    embedder: Embedder,
    steps: LookupSteps,
    trace: Trace,
) -> Packed:
    cap, count = request.max_chunks_per_document, request.return_n
    kept = trace.apply("threshold", lambda rows: steps.threshold(rows, lines.threshold), found)
    trace.stage("rerank", len(kept), len(kept))
    trace.stage("adjust", len(kept), len(kept))
    kept = trace.apply("sort", steps.order, kept)
    kept = trace.apply("merge", steps.merge, kept)
    kept = trace.apply("document_cap", lambda rows: steps.cap(rows, cap), kept)
    kept = trace.apply("return_n", lambda rows: steps.cut(rows, count), kept)
    watch = Stopwatch()
    packed = steps.pack(kept, request.token_budget, embedder.count_tokens)
    trace.stage("pack", len(kept), len(packed.blocks), watch.ms)
    trace.dropped += packed.dropped
    return packed


def _result(
    request: LookupRequest,
    query: str,
    trace: Trace,
    generation: int | None = None,
    packed: Packed | None = None,
    weak: float | None = None,
) -> LookupResult:
    blocks = packed.blocks if packed is not None else ()
    return LookupResult(
        query=request.query,
        transformed_query=query,
        corpus=request.corpus,
        kb_scope=request.kb_scope,
        generation=generation,
        evidence_status=evidence_status([block.candidate for block in blocks], weak),
        blocks=blocks,
        token_budget=request.token_budget,
        trace=trace,
    )


async def _record(catalog: Catalog, result: LookupResult) -> None:
    """Keep the line of this lookup; an answer is not lost for want of it."""
    trace = result.trace
    line = LookupLine(
        trace_id=trace.trace_id,
        corpus=result.corpus,
        latency_ms=trace.watch.ms,
        evidence_status=result.evidence_status,
        hit_count=len(result.blocks),
        fallback_reason=trace.fallback_reason or "",
        degradations=tuple(one.code for one in trace.degradations),
    )
    try:
        async with asyncio.timeout(RECORD_TIMEOUT_S):
            await asyncio.to_thread(catalog.activity.record_lookup, line)
    except Exception as error:
        logger.warning("lookup not recorded: %s", type(error).__name__)
        trace.degrade("record", "lookup_not_recorded", "The catalogue did not take the line.")


def _log(result: LookupResult) -> None:
    values = {
        "trace_id": result.trace.trace_id,
        "corpus": result.corpus,
        "action": "lookup",
        "fallback_reason": result.trace.fallback_reason or "",
        "latency_ms": result.trace.watch.ms,
        "hit_count": len(result.blocks),
    }
    logger.info(" ".join(f"{name}={value}" for name, value in values.items()), extra=values)
