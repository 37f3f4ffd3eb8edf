"""A home on the in-memory store whose pipelines run directly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from pincite.retrieval.citation import Citation, cite
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.settings import Settings, load_settings
from pincite.verification import verify
from pincite.wiring import Workspace, open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.online import ItemReceipt, write_items
from pincite.writing.receipt import Receipt
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT


class Home:
    """One home whose pipelines run directly, each in an event loop of its own."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.settings_given = settings

    @property
    def settings(self) -> Settings:
        """Those of the home."""
        given = {
            "home": self.folder / "home",
            "embedder.provider": "hash",
            "store.uri": f"memory://{self.folder}",
            # A busy machine must not make a lookup, or a write, miss its deadline.
            "rag.retrieve.timeout-ms": 60_000,
            "memory.write-timeout-ms": 60_000,
            "web.write-timeout-ms": 60_000,
            **self.settings_given,
        }
        return load_settings(given, folder=self.folder, environment={})

    def run(self, work: Callable[[Workspace], Coroutine[Any, Any, Any]]) -> Any:
        """What the work returns, in a workspace of its own."""

        async def inside() -> Any:
            async with open_workspace(self.settings) as workspace:
                return await work(workspace)

        return asyncio.run(inside())

    def ingest(self, *paths: Path, steps: Any = None, **request: Any) -> Receipt:
        """Sync folders, or ingest files."""
        given = IngestRequest(tuple(str(path) for path in paths), **request)
        receipt: Receipt = self.run(lambda _: ingest(given, steps or DIRECT))
        return receipt

    def write(self, corpus: str, *values: dict[str, Any], kb_scope: str = "") -> ItemReceipt:
        """Write items online."""
        receipt: ItemReceipt = self.run(lambda _: write_items(corpus, values, kb_scope))
        return receipt

    def look(self, query: str, **options: Any) -> LookupResult:
        """One lookup."""

        async def ask(workspace: Workspace) -> LookupResult:
            request = request_from_settings(workspace.settings, query, **options)
            return await lookup_direct(request, workspace.lookup_parts)

        result: LookupResult = self.run(ask)
        return result

    def cite(self, key: str, **options: Any) -> Citation:
        """Resolve a key."""

        async def resolve(workspace: Workspace) -> Citation:
            return cite(key, workspace.catalog, workspace.texts, **options)

        found: Citation = self.run(resolve)
        return found

    def rows(self, corpus: str = "docs", *columns: str) -> dict[str, dict[str, Any]]:
        """Every row of the live collection by key."""

        async def read(workspace: Workspace) -> dict[str, dict[str, Any]]:
            live = workspace.catalog.generations.require_live(corpus)
            found: dict[str, dict[str, Any]] = {}
            wanted = ["doc_id", "doc_version", "content", "content_sha256", "kb_scope", *columns]
            async for page in workspace.store.scan(live.collection, None, wanted):
                found.update((row["vector_id"], row) for row in page.to_pylist())
            return found

        rows: dict[str, dict[str, Any]] = self.run(read)
        return rows

    def documents(self) -> set[str]:
        """Ids of the documents that have rows."""
        return {row["doc_id"] for row in self.rows().values()}

    def verified(self) -> bool:
        """Whether catalogue, store and texts agree."""
        return bool(self.run(lambda w: verify(w.catalog, w.store, w.texts)).ok)
