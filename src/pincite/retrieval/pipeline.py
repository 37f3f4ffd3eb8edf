"""The lookup: its order, branches and fallbacks, written once over a set of steps."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from pincite.errors import PinciteError
from pincite.retrieval.blending import blend
from pincite.retrieval.evidence import assess
from pincite.retrieval.fences import pinned, short_s
from pincite.retrieval.hot import HotQueries
from pincite.retrieval.in_time import in_time
from pincite.retrieval.one_corpus import Selected
from pincite.retrieval.packing import Block, Packed, pack, upper_bound
from pincite.retrieval.parts import LookupParts, Pinned
from pincite.retrieval.paths import PathLookup
from pincite.retrieval.recording import code_of, keep, line_of, log, log_failure
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.reranking import combined
from pincite.retrieval.result import LookupResult
from pincite.retrieval.rollout import Route
from pincite.retrieval.steps import LookupSteps, direct_steps
from pincite.retrieval.trace import Deadline, Degradation, Stopwatch, Trace

Pin = Pinned | PinciteError | None
"""What is live in a corpus, the error in its place, or nothing."""

# What the answer does without for as long as nothing changes; it may be kept with the answer.
LASTING = frozenset({"corpus_empty", "l0_empty", "hybrid_unsupported", "lexical_unsupported"})


async def lookup(
    request: LookupRequest,
    steps: LookupSteps,
    hot: HotQueries | None = None,
    noted: Sequence[Degradation] = (),
) -> LookupResult:
    """Evidence for a query from one corpus or several, and how it was found.

    ``noted`` is what the request does without already, such as a corpus that it leaves out.

    The live generation of each corpus is pinned once, at the start. What fails on the way and can
    be done without is a degradation of the answer. An answer that ``hot`` has is given again.

    Raises:
        ServiceError: There is no way at all to search; the error of the service that failed.
        EmbedderChanged: The generation's embedder is not at hand.
        RequestInvalid: The embedder refuses the query.
    """
    watch = Stopwatch()
    trace_id = request.trace_id or uuid.uuid4().hex
    making = _Answer(request, steps, hot, trace_id)
    try:
        answer = await making.make()
    except Exception as error:
        log_failure(trace_id, making.trace, error, watch)
        if observer := steps.observer():
            observer.failed(request.corpus, code_of(error), watch.ms)
        raise
    answer.result.trace.latency_ms = watch.ms
    answer.result.trace.degradations += noted
    line = line_of(answer.result, request, watch, cached=answer.cached)
    await keep(answer.result, line, steps)
    if observer := steps.observer():
        observer.answered(line)
    log(answer.result, watch, cached=answer.cached)
    return answer.result


async def lookup_direct(
    request: LookupRequest, parts: LookupParts, noted: Sequence[Degradation] = ()
) -> LookupResult:
    """``lookup`` with these adapters, without an orchestrator."""
    return await lookup(request, direct_steps(parts), parts.hot, noted)


@dataclass(frozen=True)
class _Made:
    result: LookupResult
    cached: bool = False


class _Answer:
    """One answer on its way."""

    def __init__(
        self, request: LookupRequest, steps: LookupSteps, hot: HotQueries | None, trace_id: str
    ) -> None:
        self._request = request
        self._steps = steps
        self._hot = hot
        self._trace_id = trace_id
        self.trace = Trace(request.corpus)
        self._deadline = Deadline(request.timeout_ms)

    async def make(self) -> _Made:
        asked = self._asked()
        if not asked:
            return _Made(self._result())
        paths = {one.corpus: self._steps.path(one) for one in asked}
        pins = await self._pins(paths)
        key = _cache_key(self._request, pins, paths)
        known = self._known(key)
        if known is not None:
            trace = known.trace.without_latencies()
            rerank = replace(known.rerank, latency_ms=0)
            return _Made(replace(known, trace_id=self._trace_id, trace=trace, rerank=rerank), True)
        result = await self._search(asked, paths, pins)
        self._remember(key, result)
        return _Made(result)

    def _asked(self) -> list[LookupRequest]:
        """The request of each corpus that can answer: if retrieval is off, of those without it."""
        each = self._request.each()
        if self._request.enabled:
            return list(each)
        asked = [one for one in each if self._steps.has_legacy(one.corpus)]
        if len(asked) < len(each):
            self.trace.degrade("lookup", "rag_disabled", "Retrieval is off by rag.enabled.")
        return asked

    async def _pins(self, paths: Mapping[str, Route]) -> dict[str, Pin]:
        """What is live, or the error in its place, of each corpus that the core answers for."""
        names = [name for name, path in paths.items() if path is Route.CORE]
        found = await asyncio.gather(*map(self._pin, names))
        return dict(zip(names, found, strict=True))

    async def _pin(self, corpus: str) -> Pin:
        try:
            return await pinned(self._steps.pin(corpus), self._deadline)
        except PinciteError as error:
            return error

    def _known(self, key: Hashable | None) -> LookupResult | None:
        try:
            known = self._hot.result(key, self._steps.now()) if self._hot and key else None
        except Exception as error:
            self._note_cache(type(error).__name__)
            return None
        if known is not None and not isinstance(known, LookupResult):
            self._note_cache("no answer")
            return None
        return known

    def _remember(self, key: Hashable | None, result: LookupResult) -> None:
        if not (self._hot and key and _is_lasting(result.trace)):
            return
        # What this lookup still writes into its trace is not what the kept answer lacks.
        kept = replace(result, trace=result.trace.without_latencies())
        try:
            self._hot.keep_result(key, kept, _earliest_expiry(result))
        except Exception as error:
            self._note_cache(type(error).__name__)

    def _note_cache(self, what: str) -> None:
        self.trace.degrade("cache", "cache_failed", f"Answers are not kept ({what}).")

    async def _search(
        self, asked: Sequence[LookupRequest], paths: Mapping[str, Route], pins: Mapping[str, Pin]
    ) -> LookupResult:
        """Search the corpora side by side; one that fails beside another is a degradation."""
        lookups = [
            PathLookup(one, paths[one.corpus], pins.get(one.corpus), self._steps, self._deadline)
            for one in asked
        ]
        runs = await asyncio.gather(*(one.run() for one in lookups), return_exceptions=True)
        for one, run in zip(lookups, runs, strict=True):
            self.trace.add(one.trace)
            if isinstance(run, BaseException):
                self._note_failure(run, alone=len(lookups) == 1)
        selected = [run for run in runs if isinstance(run, Selected)]
        if not selected:
            raise next(run for run in runs if isinstance(run, BaseException))
        return await self._assembled(selected)

    def _note_failure(self, error: BaseException, *, alone: bool) -> None:
        if alone or not isinstance(error, PinciteError):
            raise error
        self.trace.degrade("lookup", error.code.lower(), "One of the corpora did not answer.")

    async def _assembled(self, selected: Sequence[Selected]) -> LookupResult:
        candidates = selected[0].candidates
        if len(selected) > 1:
            candidates = blend([one.candidates for one in selected])
            self.trace.stage("blend", len(candidates), len(candidates))
        count = self._request.return_n
        kept = await self.trace.apply("return_n", lambda t: self._steps.cut(t, count), candidates)
        packed = await self._pack(kept)
        return self._result(packed.blocks, selected)

    async def _pack(self, candidates: pa.Table) -> Packed:
        watch = Stopwatch()
        budget = self._request.token_budget
        try:
            packed = await in_time(self._steps.pack(candidates, budget), short_s(self._deadline))
        except Exception as error:
            name = type(error).__name__
            self.trace.degrade("pack", "tokens_estimated", f"The token counter failed ({name}).")
            packed = pack(candidates, budget, upper_bound)
        self.trace.stage("pack", len(candidates), len(packed.blocks), watch.ms)
        self.trace.drop("pack", packed.dropped)
        return packed

    def _result(
        self, blocks: tuple[Block, ...] = (), selected: Sequence[Selected] = ()
    ) -> LookupResult:
        evidence = assess(blocks, selected)
        numbers = {run.pinned.generation for run in selected if run.pinned is not None}
        return LookupResult(
            query=self._request.query,
            transformed_query=self._request.text,
            corpus=self._request.corpus,
            kb_scope=self._request.kb_scope,
            generation=numbers.pop() if len(self._request.corpora) == 1 and numbers else None,
            evidence_status=evidence.status,
            blocks=blocks,
            token_budget=self._request.token_budget,
            trace=self.trace,
            trace_id=self._trace_id,
            rerank=combined([run.rerank for run in selected]),
            evidence_score=evidence.score,
        )


def _cache_key(
    request: LookupRequest, pins: Mapping[str, Pin], paths: Mapping[str, Route]
) -> Hashable | None:
    """Everything that can change the answer; ``None`` where something can that has no number.

    A foreign collection has no revision, nor have the tables of the legacy path.
    """
    if any(path is not Route.CORE for path in paths.values()):
        return None
    state = []
    for pin in pins.values():
        if isinstance(pin, PinciteError) or (pin is not None and pin.generation is None):
            return None
        if pin is not None:
            state.append((pin.corpus, pin.generation, pin.revision, pin.space))
    return replace(request, trace_id="", connection=""), tuple(state)


def _earliest_expiry(result: LookupResult) -> int | None:
    """When the first of the answer's passages is gone, epoch ms; ``None`` = none ever is."""
    return min((e for block in result.blocks if (e := block.candidate.expires_at)), default=None)


def _is_lasting(trace: Trace) -> bool:
    return all(one.code in LASTING for one in trace.degradations)
