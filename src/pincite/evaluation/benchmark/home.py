"""A home that holds one folder of documents and nothing else, to measure lookups in."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pincite.settings import Settings
from pincite.settings.model import (
    CatalogSettings,
    LookupSettings,
    RetrievalSettings,
    StoreSettings,
    TextsSettings,
)
from pincite.wiring import Report, Workspace, open_workspace, silent
from pincite.writing.ingest import ingest
from pincite.writing.receipt import Receipt
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

CORPUS = "docs"


@dataclass(frozen=True)
class BenchmarkHome:
    """An open home; ``chunks`` are all that its live generation holds, the time is in seconds."""

    workspace: Workspace
    receipt: Receipt
    chunks: int
    ingest_s: float


def settings_inside(settings: Settings, home: Path) -> Settings:
    """The settings of embedder, rag and reranker, over a store and a catalogue inside ``home``.

    Nothing is answered from memory: each lookup is really searched.
    """
    hot = settings.rag.hot.model_copy(update={"vectors": 0, "results": 0})
    rag = settings.rag.model_copy(update={"hot": hot, "enabled": True})
    inside = {
        "home": home,
        "rag": rag,
        "retrieval": RetrievalSettings(),
        "lookup": LookupSettings(),
        "store": StoreSettings(timeout_ms=settings.store.timeout_ms),
        "catalog": CatalogSettings(),
        "texts": TextsSettings(),
    }
    return settings.model_copy(update=inside)


@asynccontextmanager
async def open_home(
    documents: Path, settings: Settings, report: Report = silent
) -> AsyncIterator[BenchmarkHome]:
    """The folder ingested into the home of the settings; what is there already is used again.

    A home of another recipe or another folder is emptied first, all but its embedding cache.

    Raises:
        PinciteError: The ingest could not be done; see ``ingest``.
    """
    await _empty_if_other(documents, settings)
    async with open_workspace(settings, report) as workspace:
        started = time.perf_counter()
        # What has no file any more goes, however much that is.
        request = IngestRequest((str(documents),), corpus=CORPUS, prune="force")
        receipt = await ingest(request, DIRECT)
        if receipt.error is not None:
            raise receipt.error
        seconds = time.perf_counter() - started
        yield BenchmarkHome(workspace, receipt, await _chunks(workspace), seconds)


async def _empty_if_other(documents: Path, settings: Settings) -> None:
    if not settings.home.is_dir():
        return
    async with open_workspace(settings) as workspace:
        if await asyncio.to_thread(_is_of, documents, workspace):
            return
    for entry in settings.home.iterdir():
        if entry == settings.cache_path.parent:
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _is_of(documents: Path, workspace: Workspace) -> bool:
    """Whether the home is empty, or holds this folder by the recipe of the settings."""
    generations = workspace.catalog.generations
    live, roots = generations.live(CORPUS), generations.roots(CORPUS)
    same_recipe = live is None or live.recipe == workspace.recipe
    return same_recipe and set(roots.values()) <= {str(documents.resolve())}


async def _chunks(workspace: Workspace) -> int:
    live = workspace.catalog.generations.require_live(CORPUS)
    return await workspace.store.count(live.collection)
