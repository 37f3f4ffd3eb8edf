"""Asks the lookup every question of a set in one mode, one after another."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from quality_home import Home, tell
from retrieval_measures import DEPTH, Span
from sets import Query
from ways import NO_HURRY_MS, Way

from pincite.documents.assemble import kept_text
from pincite.retrieval.packing import Block
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import LookupRequest, request_from_settings

# Nothing is cut for its length.
NO_BUDGET = 10_000_000
NO_CAP = 1_000
SPANS_RETURNED = 5


@dataclass(frozen=True)
class Answer:
    """What one lookup returned, best first: a file and a whole chunk's span for each block.

    ``degradations`` are ``stage/code``; ``tokens`` those of all blocks.
    """

    paths: tuple[str, ...]
    spans: tuple[Span, ...]
    tokens: int
    status: str
    degradations: tuple[str, ...]
    latency_ms: float


async def ask_all(home: Home, way: Way) -> list[Answer]:
    """The answers to all questions of the set, in their order."""
    queries = home.quality_set.queries
    await _ask(home, way, queries[0])  # The first search after a load is slow.
    answers = []
    for number, query in enumerate(queries, start=1):
        answers.append(await _ask(home, way, query))
        if number % 200 == 0 or number == len(queries):
            tell(f"{home.quality_set.title}: {way.title}, {number} of {len(queries)} asked")
    return answers


async def _ask(home: Home, way: Way, query: Query) -> Answer:
    request = _request(home, way, query)
    started = time.perf_counter()
    result = await lookup_direct(request, home.workspace.lookup_parts)
    latency_ms = (time.perf_counter() - started) * 1000
    spans = _spans(home, result.blocks) if home.quality_set.has_spans else ()
    return Answer(
        paths=tuple(home.paths[block.candidate.doc_id or ""] for block in result.blocks),
        spans=spans,
        tokens=result.tokens_used,
        status=result.evidence_status,
        degradations=tuple(f"{one.stage}/{one.code}" for one in result.trace.degradations),
        latency_ms=latency_ms,
    )


def _request(home: Home, way: Way, query: Query) -> LookupRequest:
    """As the settings say, but ten documents for a ranking and five chunks for spans."""
    spans = home.quality_set.has_spans
    return request_from_settings(
        home.workspace.settings,
        query.text,
        mode=way.mode,
        rerank=way.rerank,
        return_n=SPANS_RETURNED if spans else DEPTH,
        max_chunks_per_document=NO_CAP if spans else 1,
        token_budget=NO_BUDGET,
        timeout_ms=NO_HURRY_MS,
        rerank_timeout_ms=NO_HURRY_MS,
    )


def _spans(home: Home, blocks: Sequence[Block]) -> tuple[Span, ...]:
    return tuple(_span(home, block) for block in blocks)


def _span(home: Home, block: Block) -> Span:
    """The whole chunk in its file: gold spans count from the file's start, chunks from its text's.

    Packing may have trimmed the block; the candidate has the chunk as it was found.
    """
    chunk = block.candidate
    path = home.paths[chunk.doc_id or ""]
    text = home.quality_set.files[path]
    offset = _offset(text)
    start, end = (chunk.char_start or 0) + offset, (chunk.char_end or 0) + offset
    if text[start:end] != chunk.content:
        raise ValueError(f"chunk {chunk.evidence_key!r} is not where its span says")
    return Span(path, start, end)


@cache
def _offset(text: str) -> int:
    """Characters of a file before its kept text."""
    return text.index(kept_text(text))
