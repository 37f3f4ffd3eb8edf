"""A home that holds one set: written as files, ingested by the pipeline, asked by the lookup."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from sets import QualitySet, write_files

from pincite.evaluation.benchmark import home as benchmark_home
from pincite.settings import Settings, load_settings
from pincite.wiring import Workspace
from pincite.writing.receipt import Receipt


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
    """The set ingested into a home below ``place``; what is there already is used again."""
    files = place / "files" / quality_set.name
    write_files(quality_set, files)
    paths = {normalize("NFC", f"{files.name}/{path}"): path for path in quality_set.files}
    settings = _settings(place, embedder)
    async with benchmark_home.open_home(files, settings, _Progress(quality_set)) as home:
        _require_whole(home.receipt, quality_set)
        size = len(quality_set.files)
        yield Home(quality_set, home.workspace, paths, size, home.chunks, home.ingest_s)


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
