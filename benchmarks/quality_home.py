"""A home that holds one set: written as files, ingested by the pipeline, asked by the lookup."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from sets import QualitySet, write_files

from pincite.settings import Settings, load_settings
from pincite.wiring import Workspace, open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.receipt import Receipt
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT


@dataclass(frozen=True)
class Home:
    """An ingested set; ``paths`` are its relative paths by ``doc_id``, times in seconds."""

    quality_set: QualitySet
    workspace: Workspace
    paths: dict[str, str]
    documents: int
    chunks: int
    ingest_s: float


@asynccontextmanager
async def open_home(quality_set: QualitySet, place: Path, embedder: str) -> AsyncIterator[Home]:
    """The set ingested into a home below ``place``; what is there already is used again.

    A home of another recipe is emptied first, all but its embedding cache.
    """
    files = place / "files" / quality_set.name
    write_files(quality_set, files)
    settings = _settings(place, embedder)
    await _empty_if_other_recipe(settings)
    async with open_workspace(settings, _Progress(quality_set)) as workspace:
        started = time.perf_counter()
        receipt = await ingest(IngestRequest((str(files),)), DIRECT)
        seconds = time.perf_counter() - started
        _require_whole(receipt, quality_set)
        chunks = await _chunks(workspace)
        paths = {normalize("NFC", f"{files.name}/{path}"): path for path in quality_set.files}
        yield Home(quality_set, workspace, paths, len(quality_set.files), chunks, seconds)


def _settings(place: Path, embedder: str) -> Settings:
    """The defaults, but the reranker at hand and nothing answered from memory."""
    given = {
        "home": str(place / "home"),
        "embedder.provider": embedder,
        "rag.reranker.enabled": True,
        "rag.reranker.provider": "blend",
        "rag.hot.vectors": 0,
        "rag.hot.results": 0,
    }
    return load_settings(given, folder=place, environment={})


async def _empty_if_other_recipe(settings: Settings) -> None:
    async with open_workspace(settings) as workspace:
        live = workspace.catalog.generations.live("docs")
        if live is None or live.recipe == workspace.recipe:
            return
    for entry in settings.home.iterdir():
        if entry == settings.cache_path.parent:
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


async def _chunks(workspace: Workspace) -> int:
    live = workspace.catalog.generations.require_live("docs")
    return await workspace.store.count(live.collection)


def _require_whole(receipt: Receipt, quality_set: QualitySet) -> None:
    """A set that is not in the corpus whole gives figures that compare with nothing."""
    seen, wanted = receipt.documents["seen"], len(quality_set.files)
    if not receipt.ok or seen != wanted:
        failed = len(receipt.failures)
        sys.exit(f"{quality_set.title}: {seen} of {wanted} files seen, {failed} failed.")


class _Progress:
    """Tells on stderr how far the ingest is."""

    def __init__(self, quality_set: QualitySet) -> None:
        self._set = quality_set
        self._read = 0

    def __call__(self, stage: str, amount: int) -> None:
        if stage == "read":
            self._read += amount
            total = len(self._set.files)
            tell(f"{self._set.title}: {self._read} of {total} files read")


def tell(line: str) -> None:
    """Progress for whoever waits."""
    print(line, file=sys.stderr, flush=True)
