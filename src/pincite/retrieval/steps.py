"""The steps of a lookup.

Each takes values and tables and returns them; the adapters come from ``LookupParts``.
``LookupSteps`` is what the pipeline runs over: ``direct_steps`` makes it of the functions
themselves, a flow hands tasks of the same names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from pincite.catalog.activity import LookupLine
from pincite.catalog.l0 import L0
from pincite.catalog.shadows import ShadowLine
from pincite.corpora.port import ItemCorpus
from pincite.embedding.port import Vectors
from pincite.errors import (
    EmbedderUnreachable,
    EmbeddingRejected,
    RequestInvalid,
    ServiceError,
)
from pincite.retrieval import packing, postprocess
from pincite.retrieval.hints import Hints, hints_for
from pincite.retrieval.legacy import legacy_candidates
from pincite.retrieval.observing import Observer
from pincite.retrieval.packing import Packed
from pincite.retrieval.parts import LookupParts, Pinned
from pincite.retrieval.postprocess import Kept
from pincite.retrieval.query_vector import checked, keep_vector, kept_vector
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.reranking import Reranked, rerank_candidates
from pincite.retrieval.retriever import Found, RetrieveRequest
from pincite.retrieval.rollout import Route, path_of
from pincite.retrieval.search import Question, search_request
from pincite.retrieval.trace import Deadline
from pincite.schemas.dropped import DROPPED

# What embedding may take of the time left: full text must still be able to answer without it.
EMBED_SHARE = 0.7
LEFT_MS = "left_ms"


async def pin(parts: LookupParts, corpus: str) -> Pinned | None:
    """The corpus's live generation, ``None`` before its first ingest.

    Raises:
        EmbedderChanged: The generation's embedder is not at hand.
        CatalogUnreachable: There is no telling what is live.
    """
    if parts.foreign:
        info = parts.embedder_for(None).info
        return Pinned(corpus, None, parts.foreign, None, 0, info.space.id, info.profile)
    revision, live = await asyncio.to_thread(parts.view.live, corpus)
    if live is None:
        return None
    info = parts.embedder_for(live.recipe).info
    return Pinned(
        corpus, live.number, live.collection, live.recipe, revision, info.space.id, info.profile
    )


async def hint(parts: LookupParts, request: LookupRequest, deadline: Deadline) -> Hints | None:
    """What the documents' metadata say about the query, ``None`` where no document has any.

    Raises:
        CatalogUnreachable: The catalogue does not answer before the deadline.
    """
    scope = (request.corpus, request.kb_scope, request.exclude_scopes)
    return await asyncio.to_thread(_hint, parts.catalog.l0, request.text, scope, deadline)


def _hint(
    l0: L0, query: str, scope: tuple[str, str, tuple[str, ...]], deadline: Deadline
) -> Hints | None:
    hints = hints_for(l0, query, *scope, deadline.left_s())
    if not hints.matched and l0.is_empty(scope[0], deadline.left_s()):
        return None
    return hints


async def embed(parts: LookupParts, pinned: Pinned, query: str, deadline: Deadline) -> Vectors:
    """The query's vector, ``(dim,) float32``, finite and not zero.

    Raises:
        EmbedderUnreachable: No answer in time.
        EmbeddingInvalid: What came back is no such vector.
        RequestInvalid: The embedder refuses this query.
    """
    embedder = parts.embedder_for(pinned.recipe)
    kept = kept_vector(parts.hot, pinned.space, query, embedder.info.dim)
    if kept is not None:
        return kept
    left = deadline.left_s() * EMBED_SHARE
    try:
        async with asyncio.timeout(left):
            vectors = await embedder.embed([query], "search", timeout_s=left)
    except TimeoutError as exc:
        raise EmbedderUnreachable(
            f"The embedder did not answer within {left * 1000:.0f} ms.",
            "Check that its endpoint runs; rag.retrieve.timeout-ms gives it more time.",
        ) from exc
    except EmbeddingRejected as exc:
        raise RequestInvalid(
            "The embedder refuses the query.", "Ask with another, shorter query."
        ) from exc
    vector = checked(vectors, embedder.info.dim)
    keep_vector(parts.hot, pinned.space, query, vector)
    return vector


async def search(
    parts: LookupParts,
    pinned: Pinned,
    request: LookupRequest,
    question: Question,
    attempt: str,
    deadline: Deadline,
) -> Found:
    """One attempt.

    Raises:
        ServiceError: No leg could answer; its attribute ``left_ms`` says how much time is left.
    """
    query = search_request(request, question, attempt, deadline.left_s(), parts.clock())
    wanted = RetrieveRequest(pinned.corpus, pinned.generation, pinned.collection, query)
    try:
        return await parts.retriever.retrieve(wanted)
    except ServiceError as error:
        error.attributes[LEFT_MS] = round(deadline.left_s() * 1000)
        raise


async def current(parts: LookupParts, pinned: Pinned, candidates: pa.Table) -> Kept:
    """Without rows that are older than what is stamped.

    Raises:
        CatalogUnreachable: There is no telling what is stamped.
    """
    doc_ids = sorted({one for one in candidates["doc_id"].to_pylist() if one is not None})
    if pinned.generation is None or not doc_ids:
        return Kept(candidates, DROPPED.empty())
    asked = (pinned.corpus, pinned.generation, pinned.revision, doc_ids)
    versions = parts.view.known_versions(*asked)
    if versions is None:
        versions = await asyncio.to_thread(parts.view.versions, *asked)
    return postprocess.current(candidates, versions)


async def threshold(candidates: pa.Table, line: float | None) -> Kept:
    """Without what is under the line."""
    return postprocess.threshold(candidates, line)


async def rerank(
    parts: LookupParts, request: LookupRequest, candidates: pa.Table, deadline: Deadline
) -> Reranked:
    """The candidates with a reranker's scores, or as they were and why."""
    timeout_s = min(request.rerank_timeout_ms / 1000, deadline.left_s())
    reranker = parts.reranker if request.rerank else None
    return await rerank_candidates(
        reranker, request.text, candidates, request.rerank_top_k, timeout_s
    )


async def adjust(parts: LookupParts, corpus: str, candidates: pa.Table) -> pa.Table:
    """The candidates as the corpus wants them sorted."""
    adapter = parts.corpora.get(corpus)
    return candidates if adapter is None else adapter.adjust(candidates)


async def legacy(parts: LookupParts, request: LookupRequest) -> pa.Table:
    """What the legacy path finds, best first.

    Raises:
        CatalogUnreachable: The items cannot be read.
    """
    adapter = parts.corpora[request.corpus]
    if parts.texts is None or not isinstance(adapter, ItemCorpus):
        raise RuntimeError(f"corpus {request.corpus!r} has no legacy path")
    texts = parts.texts.of(request.corpus)
    return await asyncio.to_thread(legacy_candidates, request, adapter, parts.catalog, texts)


async def note_shadow(parts: LookupParts, line: ShadowLine) -> None:
    """Keep how the two paths differed.

    Raises:
        CatalogUnreachable: The catalogue did not take it.
    """
    await asyncio.to_thread(parts.catalog.shadows.record, line)


async def order(candidates: pa.Table) -> Kept:
    """By score, then by evidence key."""
    return postprocess.order(candidates)


async def merge(candidates: pa.Table) -> Kept:
    """One of each evidence key."""
    return postprocess.merge(candidates)


async def cap(candidates: pa.Table, per_document: int) -> Kept:
    """At most so many of one document."""
    return postprocess.cap(candidates, per_document)


async def cut(candidates: pa.Table, return_n: int) -> Kept:
    """At most so many."""
    return postprocess.cut(candidates, return_n)


async def pack(parts: LookupParts, candidates: pa.Table, budget: int) -> Packed:
    """Blocks that fit the token budget, as the embedder counts."""
    count = parts.embedder_for(None).count_tokens
    # In a thread, so that a tokenizer that is slow holds up no other lookup.
    return await asyncio.to_thread(packing.pack, candidates, budget, count)


async def record(parts: LookupParts, line: LookupLine) -> None:
    """Keep what the lookup returned; the query's text only if it may be kept.

    Raises:
        CatalogUnreachable: The catalogue did not take it.
    """
    kept = line if parts.log_queries else replace(line, query=None)
    await asyncio.to_thread(parts.catalog.activity.record_lookup, kept)


@dataclass(frozen=True)
class LookupSteps:
    """One callable for each step; the pipeline knows their order and nothing else of them.

    The last five are no work: where a lookup goes, whether there is another path, what runs on
    after its answer, the time (epoch ms, UTC), and who is told.
    """

    pin: Callable[[str], Awaitable[Pinned | None]]
    hint: Callable[[LookupRequest, Deadline], Awaitable[Hints | None]]
    embed: Callable[[Pinned, str, Deadline], Awaitable[Vectors]]
    search: Callable[[Pinned, LookupRequest, Question, str, Deadline], Awaitable[Found]]
    current: Callable[[Pinned, pa.Table], Awaitable[Kept]]
    rerank: Callable[[LookupRequest, pa.Table, Deadline], Awaitable[Reranked]]
    pack: Callable[[pa.Table, int], Awaitable[Packed]]
    record: Callable[[LookupLine], Awaitable[None]]
    adjust: Callable[[str, pa.Table], Awaitable[pa.Table]]
    legacy: Callable[[LookupRequest], Awaitable[pa.Table]]
    note_shadow: Callable[[ShadowLine], Awaitable[None]]
    path: Callable[[LookupRequest], Route]
    has_legacy: Callable[[str], bool]
    start: Callable[[Coroutine[Any, Any, None]], None]
    now: Callable[[], int]
    observer: Callable[[], Observer | None]
    threshold: Callable[[pa.Table, float | None], Awaitable[Kept]] = threshold
    order: Callable[[pa.Table], Awaitable[Kept]] = order
    merge: Callable[[pa.Table], Awaitable[Kept]] = merge
    cap: Callable[[pa.Table, int], Awaitable[Kept]] = cap
    cut: Callable[[pa.Table, int], Awaitable[Kept]] = cut


def direct_steps(parts: LookupParts) -> LookupSteps:
    """The functions themselves, over these adapters."""
    return LookupSteps(
        pin=partial(pin, parts),
        hint=partial(hint, parts),
        embed=partial(embed, parts),
        search=partial(search, parts),
        current=partial(current, parts),
        rerank=partial(rerank, parts),
        pack=partial(pack, parts),
        record=partial(record, parts),
        adjust=partial(adjust, parts),
        legacy=partial(legacy, parts),
        note_shadow=partial(note_shadow, parts),
        path=lambda request: path_of(request, parts.rollouts),
        has_legacy=parts.rollouts.__contains__,
        start=parts.background.start,
        now=parts.clock,
        observer=lambda: parts.observer,
    )
