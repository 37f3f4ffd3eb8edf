"""The steps of a lookup as tasks; their names tell the attempt, so that a fallback is seen."""

from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pyarrow as pa
from prefect import task

from pincite.catalog.activity import LookupLine
from pincite.catalog.shadows import ShadowLine
from pincite.embedding.port import Vectors
from pincite.retrieval import steps as engine
from pincite.retrieval.hints import Hints
from pincite.retrieval.observing import Observer
from pincite.retrieval.packing import Packed
from pincite.retrieval.parts import LookupParts, Pinned
from pincite.retrieval.postprocess import Kept
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.reranking import Reranked
from pincite.retrieval.retriever import Found
from pincite.retrieval.rollout import Route, path_of
from pincite.retrieval.search import Question
from pincite.retrieval.trace import Deadline
from pincite.schemas.candidates import CANDIDATES
from pincite.schemas.dropped import DROPPED
from pincite.tasks.names import counted
from pincite.tasks.policy import CPU, EMBED, LOOKUP, PLAIN
from pincite.wiring import current_workspace


def _parts() -> LookupParts:
    return current_workspace().lookup_parts


def path(request: LookupRequest) -> Route:
    """Where the lookup goes; no work, so no task."""
    return path_of(request, _parts().rollouts)


def has_legacy(corpus: str) -> bool:
    """Whether the corpus has a legacy path."""
    return corpus in _parts().rollouts


def start(work: Coroutine[Any, Any, None]) -> None:
    """Let work run on after the answer; the flow waits for it at its end."""
    _parts().background.start(work)


def observer() -> Observer | None:
    """Who is told of the lookup."""
    return _parts().observer


def now() -> int:
    """Epoch ms, UTC."""
    return _parts().clock()


def _kept(kept: Kept) -> Kept:
    return Kept(CANDIDATES.conform(kept.candidates), DROPPED.conform(kept.dropped))


@task(name="pin", task_run_name="pin the generation of {corpus}", **LOOKUP)
async def pin(corpus: str) -> Pinned | None:
    """The corpus's live generation."""
    return await engine.pin(_parts(), corpus)


@task(name="hint", task_run_name="hints of {request.corpus}", **PLAIN)
async def hint(request: LookupRequest, deadline: Deadline) -> Hints | None:
    """What the documents' metadata say about the query."""
    return await engine.hint(_parts(), request, deadline)


@task(name="embed query", task_run_name="embed the query for {pinned.corpus}", **EMBED)
async def embed(pinned: Pinned, query: str, deadline: Deadline) -> Vectors:
    """The query's vector."""
    return await engine.embed(_parts(), pinned, query, deadline)


@task(name="search", task_run_name="search {pinned.corpus} {attempt}", **LOOKUP)
async def search(
    pinned: Pinned, request: LookupRequest, question: Question, attempt: str, deadline: Deadline
) -> Found:
    """One attempt; tried again while there is time."""
    found = await engine.search(_parts(), pinned, request, question, attempt, deadline)
    return replace(found, candidates=CANDIDATES.conform(found.candidates))


@task(name="current", task_run_name=counted("compare", "candidates", "versions"), **PLAIN)
async def current(pinned: Pinned, candidates: pa.Table) -> Kept:
    """Without rows that are older than what is stamped."""
    return _kept(await engine.current(_parts(), pinned, CANDIDATES.conform(candidates)))


@task(name="threshold", task_run_name=counted("threshold", "candidates", "candidates"), **CPU)
async def threshold(candidates: pa.Table, line: float | None) -> Kept:
    """Without what is under the line."""
    return _kept(await engine.threshold(CANDIDATES.conform(candidates), line))


@task(name="rerank", task_run_name=counted("rerank", "candidates", "candidates"), **PLAIN)
async def rerank(request: LookupRequest, candidates: pa.Table, deadline: Deadline) -> Reranked:
    """With a reranker's scores, or as they were and why."""
    table = CANDIDATES.conform(candidates)
    done = await engine.rerank(_parts(), request, table, deadline)
    return replace(done, candidates=CANDIDATES.conform(done.candidates))


@task(name="adjust", task_run_name="adjust as {corpus} sorts", **CPU)
async def adjust(corpus: str, candidates: pa.Table) -> pa.Table:
    """As the corpus wants them sorted."""
    return CANDIDATES.conform(await engine.adjust(_parts(), corpus, CANDIDATES.conform(candidates)))


@task(name="sort", task_run_name=counted("sort", "candidates", "candidates"), **CPU)
async def order(candidates: pa.Table) -> Kept:
    """By score, then by evidence key."""
    return _kept(await engine.order(CANDIDATES.conform(candidates)))


@task(name="merge", task_run_name=counted("merge", "candidates", "candidates"), **CPU)
async def merge(candidates: pa.Table) -> Kept:
    """One of each evidence key."""
    return _kept(await engine.merge(CANDIDATES.conform(candidates)))


@task(name="cap", task_run_name="at most {per_document} of a document", **CPU)
async def cap(candidates: pa.Table, per_document: int) -> Kept:
    """At most so many of one document."""
    return _kept(await engine.cap(CANDIDATES.conform(candidates), per_document))


@task(name="cut", task_run_name="cut to {return_n}", **CPU)
async def cut(candidates: pa.Table, return_n: int) -> Kept:
    """At most so many."""
    return _kept(await engine.cut(CANDIDATES.conform(candidates), return_n))


@task(name="pack", task_run_name="pack into {budget} tokens", **CPU)
async def pack(candidates: pa.Table, budget: int) -> Packed:
    """Blocks that fit the token budget."""
    return await engine.pack(_parts(), CANDIDATES.conform(candidates), budget)


@task(name="legacy", task_run_name="search {request.corpus} LEGACY", **LOOKUP)
async def legacy(request: LookupRequest) -> pa.Table:
    """What the legacy path finds."""
    return CANDIDATES.conform(await engine.legacy(_parts(), request))


@task(name="note shadow", task_run_name="record how the paths differ", **PLAIN)
async def note_shadow(line: ShadowLine) -> None:
    """Keep how the two paths differed."""
    await engine.note_shadow(_parts(), line)


@task(name="record", task_run_name="record the lookup", **PLAIN)
async def record(line: LookupLine) -> None:
    """Keep what the lookup returned."""
    await engine.record(_parts(), line)
