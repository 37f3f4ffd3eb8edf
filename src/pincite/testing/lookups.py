"""Lookups in a small corpus, and what a test asks of their answers."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pincite.retrieval.knowledge import search_port
from pincite.retrieval.parts import LookupParts
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.result import LookupResult
from pincite.retrieval.retriever import LegsRetriever
from pincite.store.port import Hit, TextQuery, VectorQuery
from pincite.testing.faults import Instead
from pincite.testing.small_corpus import SmallCorpus

FRUIT = ("apples are red", "pears are green", "plums are blue")
PATIENT_MS = 10_000
TRACE_ID = "traceId"
LATENCY = "latencyMs"

Query = VectorQuery | TextQuery


@contextmanager
def fruit_corpus(folder: Path, **adapters: Any) -> Iterator[SmallCorpus]:
    """A corpus with one document ``fruit`` of three chunks in the category ``food``."""
    # A full collection of a test session's heap takes as long as a lookup may wait for its line.
    gc.freeze()
    corpus = SmallCorpus(folder, **adapters)
    asyncio.run(corpus.create())
    write(corpus, "fruit", *FRUIT, title="Fruit", source="docs/fruit.md", category="food")
    yield corpus
    corpus.catalog.close()


def write(corpus: SmallCorpus, doc_id: str, *chunks: str, **record: Any) -> None:
    """Write a document that is these chunks, from outside of any event loop."""
    asyncio.run(corpus.write(doc_id, chunks, **record))


def parts_of(
    corpus: SmallCorpus, *, store: Any = None, embedder: Any = None, **others: Any
) -> LookupParts:
    """The parts of lookups in the corpus; what is given stands in for its own."""
    chosen = embedder or corpus.embedder
    parts = LookupParts(
        catalog=corpus.catalog,
        retriever=LegsRetriever(search_port("native", store or corpus.store)),
        embedder_for=lambda _: chosen,
    )
    return replace(parts, **others)


def watched(store: Any, queries: list[Query]) -> Any:
    """The store, writing down what it is asked."""

    async def search(collection: str, query: Query) -> list[Hit]:
        queries.append(query)
        hits: list[Hit] = await store.search(collection, query)
        return hits

    return Instead(store, search=search)


def look(parts: LookupParts, query: str, **options: Any) -> LookupResult:
    """One lookup, from outside of any event loop.

    Without a deadline of its own it is patient: no busy machine makes it degrade.
    """
    request = LookupRequest(query, **{"timeout_ms": PATIENT_MS, **options})
    return asyncio.run(lookup_direct(request, parts))


def codes(result: LookupResult) -> list[str]:
    """Codes of what the answer did without, in order."""
    return [one.code for one in result.trace.degradations]


def keys(result: LookupResult) -> list[str]:
    """Evidence keys of the blocks, in order of rank."""
    return [block.candidate.evidence_key for block in result.blocks]


def considered(result: LookupResult) -> set[str]:
    """Evidence keys of the blocks and of what fell out."""
    return {*keys(result), *(one.evidence_key for one in result.trace.dropped)}


def document(result: LookupResult) -> dict[str, Any]:
    """The JSON document as a script reads it."""
    read: dict[str, Any] = json.loads(result.to_json())
    return read


def lasting(result: LookupResult) -> dict[str, Any]:
    """The JSON document without what differs from run to run: trace id and latencies."""
    return {name: _lasting(value) for name, value in document(result).items() if name != TRACE_ID}


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _lasting(one) for name, one in value.items() if name != LATENCY}
    return [_lasting(one) for one in value] if isinstance(value, list) else value
