"""What is kept of a lookup, and the one line it logs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from pincite.catalog.lookup_lines import LookupLine, Returned, StageTime
from pincite.errors import PinciteError
from pincite.identity import text_sha256
from pincite.retrieval.candidates import Candidate
from pincite.retrieval.legacy import LEGACY
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.result import LookupResult
from pincite.retrieval.search import FAILED
from pincite.retrieval.steps import LookupSteps
from pincite.retrieval.trace import Stopwatch, Trace

logger = logging.getLogger("pincite.lookup")

RECORD_TIMEOUT_S = 0.5


async def keep(result: LookupResult, line: LookupLine, steps: LookupSteps) -> None:
    """Keep the line of this lookup; an answer is not lost for want of it."""
    try:
        async with asyncio.timeout(RECORD_TIMEOUT_S):
            await steps.record(line)
    except Exception as error:
        logger.warning("lookup not recorded: %s", type(error).__name__)
        result.trace.degrade("record", "lookup_not_recorded", "The catalogue did not take it.")


def log(result: LookupResult, watch: Stopwatch, *, cached: bool) -> None:
    """One structured line: the fields are in the message and on the record."""
    values = _fields(result.trace_id, result.trace, len(result.blocks), watch)
    _write({**values, "evidence_status": result.evidence_status, "cached": cached})


def log_failure(trace_id: str, trace: Trace, error: Exception, watch: Stopwatch) -> None:
    """The line of a lookup without an answer, with the code of its error."""
    _write({**_fields(trace_id, trace, 0, watch), "error": code_of(error)})


def code_of(error: Exception) -> str:
    """The stable code of what went wrong."""
    return str(getattr(error, "code", PinciteError.code))


def _fields(trace_id: str, trace: Trace, hit_count: int, watch: Stopwatch) -> dict[str, Any]:
    return {
        "trace_id": trace_id,
        "corpus": trace.corpus,
        "action": "lookup",
        "fallback_reason": trace.fallback_reason or "",
        "latency_ms": watch.ms,
        "hit_count": hit_count,
        "degradations": ",".join(one.code for one in trace.degradations),
    }


def _write(values: Mapping[str, Any]) -> None:
    logger.info(" ".join(f"{name}={value}" for name, value in values.items()), extra=values)


def line_of(
    result: LookupResult, request: LookupRequest, watch: Stopwatch, *, cached: bool
) -> LookupLine:
    """The line of an answered lookup."""
    trace, rerank = result.trace, result.rerank
    return LookupLine(
        trace_id=result.trace_id,
        corpus=result.corpus,
        latency_ms=watch.ms,
        evidence_status=result.evidence_status,
        hit_count=len(result.blocks),
        fallback_reason=trace.fallback_reason or "",
        degradations=tuple(one.code for one in trace.degradations),
        kb_scope=result.kb_scope,
        generation=result.generation,
        mode=request.mode.value,
        selected_attempt=trace.selected_attempt or "",
        reranker=rerank.reranker or "",
        reranker_applied=rerank.applied,
        rerank_reason=rerank.fallback_reason or "",
        query_sha256=text_sha256(result.query),
        query=result.query,
        blocks=tuple(_returned(block.candidate) for block in result.blocks),
        stages=tuple(StageTime(s.corpus, s.name, s.latency_ms) for s in trace.stages),
        cached=cached,
        connection=request.connection,
        degraded_in=tuple(one.corpus for one in trace.degradations),
        legacy=tuple(dict.fromkeys(_by_legacy(trace))),
    )


def _by_legacy(trace: Trace) -> list[str]:
    """Corpora that the legacy path answered for."""
    return [a.corpus for a in trace.attempts if a.name == LEGACY and a.outcome != FAILED]


def _returned(candidate: Candidate) -> Returned:
    return Returned(
        evidence_key=candidate.evidence_key,
        corpus=candidate.corpus,
        generation=candidate.generation,
        content_sha256=candidate.content_sha256,
        score=candidate.score,
        hit_reasons=candidate.hit_reasons,
    )
