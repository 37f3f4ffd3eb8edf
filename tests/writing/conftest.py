"""A workspace on the in-memory store, and folders to ingest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from pincite.settings import Settings, load_settings
from pincite.wiring import Workspace, open_workspace
from pincite.writing.ingest import ingest
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
        given = {
            "home": self.folder / "home",
            "embedder.provider": "hash",
            "store.uri": f"memory://{self.folder}",
            **self.settings_given,
        }
        return load_settings(given, folder=self.folder, environment={})

    def run(self, work: Callable[[Workspace], Coroutine[Any, Any, Any]]) -> Any:
        async def inside() -> Any:
            async with open_workspace(self.settings) as workspace:
                return await work(workspace)

        return asyncio.run(inside())

    def ingest(self, *paths: Path, steps: Any = None, **request: Any) -> Receipt:
        given = IngestRequest(tuple(str(path) for path in paths), **request)
        return self.run(lambda _: ingest(given, steps or DIRECT))

    def rows(self) -> dict[str, dict[str, Any]]:
        """Every row of the live collection by key."""

        async def read(workspace: Workspace) -> dict[str, dict[str, Any]]:
            live = workspace.catalog.generations.require_live("docs")
            found = {}
            columns = ["doc_id", "doc_version", "content", "content_sha256", "kb_scope"]
            async for page in workspace.store.scan(live.collection, None, columns):
                found.update((row["vector_id"], row) for row in page.to_pylist())
            return found

        return self.run(read)

    def documents(self) -> set[str]:
        """Ids of the documents that have rows."""
        return {row["doc_id"] for row in self.rows().values()}

    def verified(self) -> bool:
        from pincite.verification import verify

        return self.run(lambda w: verify(w.catalog, w.store, w.texts)).ok


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def make_home(tmp_path: Path) -> Callable[..., Home]:
    """Another view of the same home with other settings."""
    return lambda **settings: Home(tmp_path, **settings)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder ``notes`` with three documents."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("ant", "bee", "cat"):
        (notes / f"{name}.md").write_text(f"# {name}\n\nEverything about the {name}.\n", "utf-8")
    return notes
