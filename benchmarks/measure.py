"""One measurement in a process of its own; prints one JSON line.

python benchmarks/measure.py KIND STORE_URI DATABASE HOME FOLDER
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from pincite.settings import Settings, load_settings
from pincite.wiring import Workspace, open_workspace

RAW_BATCH = 1_000


def settings_of(uri: str, database: str, home: str, embedder: str) -> Settings:
    """Settings of this measurement alone."""
    given = {
        "home": home,
        "store.uri": uri,
        "store.database": database,
        "embedder.provider": embedder,
    }
    return load_settings(given, environment={})


async def direct(settings: Settings, folder: str) -> dict[str, Any]:
    """The pipeline without an orchestrator, gate and read-back included."""
    from pincite.writing.ingest import ingest
    from pincite.writing.request import IngestRequest
    from pincite.writing.steps import DIRECT

    async with open_workspace(settings):
        started = time.perf_counter()
        receipt = await ingest(IngestRequest((folder,)), DIRECT)
        seconds = time.perf_counter() - started
    return {"rows": receipt.chunks["written"], "seconds": seconds}


async def flow(settings: Settings, folder: str) -> dict[str, Any]:
    """The Prefect flow with the Great Expectations gate, on a running server."""
    from pincite.flows.ingest import run_ingest
    from pincite.writing.request import IngestRequest

    async with open_workspace(settings):
        started = time.perf_counter()
        receipt = await run_ingest(IngestRequest((folder,)))
        seconds = time.perf_counter() - started
    return {"rows": receipt.chunks["written"], "seconds": seconds}


async def raw(settings: Settings, _folder: str) -> dict[str, Any]:
    """``MilvusClient.upsert`` of the rows that the ingest of this home wrote, ready as dicts."""
    from pymilvus import MilvusClient

    from pincite.store.port import CollectionSpec

    async with open_workspace(settings) as workspace:
        rows = await _rows(workspace)
        await workspace.store.create("raw", CollectionSpec(dim=workspace.recipe.dim))
        if "://" not in settings.store_uri:
            return await _raw_lite(workspace, rows)
        client = MilvusClient(settings.store_uri, db_name=settings.store.database or "default")
        seconds = _upsert_all(client, rows)
        client.close()
    return {"rows": len(rows), "seconds": seconds}


async def _raw_lite(workspace: Workspace, rows: list[dict[str, Any]]) -> dict[str, Any]:
    from pymilvus import MilvusClient

    # The embedded engine is one per folder and process; a second client shares it.
    client = MilvusClient(workspace.settings.store_uri)
    return {"rows": len(rows), "seconds": await asyncio.to_thread(_upsert_all, client, rows)}


def _upsert_all(client: Any, rows: list[dict[str, Any]]) -> float:
    started = time.perf_counter()
    for start in range(0, len(rows), RAW_BATCH):
        client.upsert("raw", rows[start : start + RAW_BATCH])
    client.flush("raw")
    return time.perf_counter() - started


async def _rows(workspace: Workspace) -> list[dict[str, Any]]:
    live = workspace.catalog.generations.require_live("docs")
    columns = [
        "doc_id", "doc_version", "chunk_index", "kb_scope", "category", "source", "title",
        "heading", "content", "content_sha256", "char_start", "char_end", "metadata", "embedding",
    ]  # fmt: skip
    found: list[dict[str, Any]] = []
    async for page in workspace.store.scan(live.collection, None, columns):
        for row in page.to_pylist():
            row["chunk_id"] = row.pop("vector_id")
            row["metadata"] = json.loads(row["metadata"])
            found.append({**row, "expires_at": 0})
    return found


async def embedder_alone(settings: Settings, folder: str) -> dict[str, Any]:
    """The embedder on the texts that the ingest of this home wrote, and nothing else."""
    async with open_workspace(settings) as workspace:
        texts = [row["content"] for row in await _rows(workspace)]
        started = time.perf_counter()
        size = workspace.embedder.info.batch_size
        for start in range(0, len(texts), size):
            await workspace.embedder.embed(texts[start : start + size], "add")
        seconds = time.perf_counter() - started
    return {"rows": len(texts), "seconds": seconds}


KINDS = {
    "direct": (direct, "hash"),
    "flow": (flow, "hash"),
    "raw": (raw, "hash"),
    "local": (direct, "local"),
    "embedder": (embedder_alone, "local"),
}


def main() -> None:
    """Run one measurement."""
    kind, uri, database, home, folder = sys.argv[1:]
    work, embedder = KINDS[kind]
    found = asyncio.run(work(settings_of(uri, database, home, embedder), folder))
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({**found, "peak_mib": peak_kib / 1024}))


if __name__ == "__main__":
    assert Path(sys.argv[5]).is_dir()
    main()
