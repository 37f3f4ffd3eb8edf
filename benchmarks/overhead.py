"""Lookups beside the raw calls, one after the other in one process."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pymilvus import AsyncMilvusClient
from raw_search import RawSearch, searches_of, terms_of
from retrieval_measures import percentile
from ways import NO_HURRY_MS, Way

from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import LookupRequest, request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.settings import Settings, load_settings
from pincite.store.lite import open_lite
from pincite.wiring import Workspace, open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

WARM_UP = 20
QUERY_WORDS = 8


@dataclass(frozen=True)
class Timed:
    """Times in ms of the same queries, in the same order."""

    way: Way
    chunks: int
    raw: tuple[float, ...]
    lookup: tuple[float, ...]

    @property
    def added(self) -> float:
        """What the lookup's median adds to the raw calls' median."""
        return percentile(self.lookup, 0.5) - percentile(self.raw, 0.5)

    @property
    def paired(self) -> float:
        """The median of what each query's lookup adds: steadier where searches take long."""
        pairs = zip(self.lookup, self.raw, strict=True)
        return percentile([lookup - raw for lookup, raw in pairs], 0.5)


def settings_of(uri: str, database: str, home: Path, embedder: str) -> Settings:
    """The defaults with nothing answered from memory."""
    given = {
        "home": str(home),
        "store.uri": uri,
        "store.database": database,
        "embedder.provider": embedder,
        "rag.hot.vectors": 0,
        "rag.hot.results": 0,
    }
    return load_settings(given, folder=home, environment={})


async def measure(settings: Settings, folder: Path, ways: Sequence[Way], count: int) -> list[Timed]:
    """Ingest the folder and time ``count`` queries in each way, by lookup and by raw calls."""
    queries = queries_of(folder, WARM_UP + count)
    async with open_workspace(settings) as workspace:
        receipt = await ingest(IngestRequest((str(folder),)), DIRECT)
        chunks = receipt.chunks["written"]
        client = client_of(settings)
        try:
            return [await _timed(workspace, client, way, chunks, queries) for way in ways]
        finally:
            await client.close()


def client_of(settings: Settings) -> AsyncMilvusClient:
    """A client of its own; like the store's it does not ping while idle, which Lite forbids."""
    options = {"grpc.keepalive_permit_without_calls": 0, "grpc.keepalive_time_ms": 60_000}
    uri, database = settings.store_uri, settings.store.database
    address = uri if "://" in uri else open_lite(uri)
    return AsyncMilvusClient(address, db_name=database, grpc_options=options)


def queries_of(folder: Path, count: int) -> list[str]:
    """Words that follow one another somewhere in the files, the same in every run."""
    chooser = random.Random(1)
    texts = [path.read_text("utf-8").split() for path in sorted(folder.iterdir())]
    found = []
    for _ in range(count):
        words = chooser.choice(texts)
        start = chooser.randrange(len(words) - QUERY_WORDS)
        found.append(" ".join(words[start : start + QUERY_WORDS]))
    return found


async def _timed(
    workspace: Workspace,
    client: AsyncMilvusClient,
    way: Way,
    chunks: int,
    queries: Sequence[str],
) -> Timed:
    def lookup(query: str) -> Awaitable[LookupResult]:
        return lookup_direct(_request(workspace, query, way), workspace.lookup_parts)

    _require(await lookup(queries[0]), way)
    calls = await searches_of(lambda: lookup(queries[0]))
    raw = RawSearch(client, workspace.embedder, calls)
    pairs = [(query, terms_of(query)) for query in queries]
    gc.collect()
    times = [await _pair(raw, lookup, at, *pair) for at, pair in enumerate(pairs)]
    kept = times[WARM_UP:]
    return Timed(way, chunks, tuple(one for one, _ in kept), tuple(other for _, other in kept))


async def _pair(
    raw: RawSearch,
    lookup: Callable[[str], Awaitable[LookupResult]],
    at: int,
    query: str,
    terms: str,
) -> tuple[float, float]:
    """Both ways of one query; who goes first alternates, because the second finds warm caches."""
    if at % 2:
        second = await _clocked(lookup(query))
        return await _clocked(raw.ask(query, terms)), second
    first = await _clocked(raw.ask(query, terms))
    return first, await _clocked(lookup(query))


async def _clocked(work: Awaitable[object]) -> float:
    started = time.perf_counter()
    await work
    return (time.perf_counter() - started) * 1000


def _request(workspace: Workspace, query: str, way: Way) -> LookupRequest:
    return request_from_settings(
        workspace.settings, query, mode=way.mode, rerank=way.rerank, timeout_ms=NO_HURRY_MS
    )


def _require(result: LookupResult, way: Way) -> None:
    """A degraded lookup does less than it should: its time says nothing."""
    searched = [attempt.mode for attempt in result.trace.attempts]
    as_wished = searched == [way.mode.value] and result.rerank.applied == way.rerank
    if not as_wished or not result.blocks:
        raise RuntimeError(f"a {way.title} lookup searched {searched}")
