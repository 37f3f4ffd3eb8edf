"""Real folders of documentation: nothing is lost, nothing is done twice, nothing leaks."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from pincite.documents.readers import supported_suffixes
from pincite.settings import load_settings
from pincite.verification import verify
from pincite.wiring import Workspace, open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.receipt import Receipt
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

DATA = Path(os.environ.get("PINCITE_TEST_DATA", Path(__file__).parents[2] / "shared/data"))
FOLDERS = ("hugoDocs", "zola-docs", "milvus-docs-v2.0.x", "cncf-glossary")
FENCES = ("---", "+++")
COLUMNS = ["doc_id", "source", "chunk_index", "content", "content_sha256"]

Row = dict[str, Any]


class Synced:
    """A copy of one folder, ingested once into a Milvus Lite folder of its own."""

    def __init__(self, name: str, home: Path) -> None:
        self.folder = home / name
        shutil.copytree(DATA / "docs" / name, self.folder)
        given = {"home": home / "home", "embedder.provider": "hash"}
        self.settings = load_settings(given, folder=home, environment={})
        self.first = self.ingest()

    def run(self, work: Callable[[Workspace], Coroutine[Any, Any, Any]]) -> Any:
        async def inside() -> Any:
            async with open_workspace(self.settings) as workspace:
                return await work(workspace)

        return asyncio.run(inside())

    def ingest(self) -> Receipt:
        request = IngestRequest((str(self.folder),))
        return self.run(lambda _: ingest(request, DIRECT))

    def rows(self) -> list[Row]:
        async def read(workspace: Workspace) -> list[Row]:
            live = workspace.catalog.generations.require_live("docs")
            pages = workspace.store.scan(live.collection, None, COLUMNS)
            return [row async for page in pages for row in page.to_pylist()]

        return self.run(read)

    def states(self) -> dict[str, str]:
        """State of each document that the catalogue knows, by where it came from."""

        async def read(workspace: Workspace) -> dict[str, str]:
            pages = workspace.catalog.documents.pages("docs", 1)
            return {held.source: held.state for page in pages for held in page}

        return self.run(read)

    def is_verified(self) -> bool:
        return self.run(lambda w: verify(w.catalog, w.store, w.texts)).ok

    def source(self, path: Path) -> str:
        return f"{self.folder.name}/{path.relative_to(self.folder).as_posix()}"

    def path(self, source: str) -> Path:
        return self.folder.parent / source


@pytest.fixture(scope="module", params=FOLDERS)
def synced(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    if not (DATA / "docs" / request.param).is_dir():
        pytest.skip(f"no folder {DATA / 'docs' / request.param}")
    home = tmp_path_factory.mktemp(request.param)
    yield Synced(request.param, home)
    shutil.rmtree(home, ignore_errors=True)


def visible_files(folder: Path) -> list[Path]:
    """Every file that no part of the path hides; a walk of its own, not the product's."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [
        path
        for path in paths
        if not any(
            part.startswith(".") or part == "node_modules"
            for part in path.relative_to(folder).parts
        )
    ]


def test_every_file_is_accounted_for(synced: Synced) -> None:
    files = visible_files(synced.folder)
    readable = {synced.source(p) for p in files if p.suffix.lower() in supported_suffixes()}
    counts, states = synced.first.documents, synced.states()
    assert counts["seen"] + counts["skipped"] == len(files)
    assert counts["added"] + counts["empty"] + counts["failed"] == counts["seen"] == len(readable)
    assert set(states) == readable
    assert set(states.values()) <= {"INDEXED", "EMPTY", "FAILED"}
    assert len([entry for entry in synced.first.failures if entry["code"]]) == counts["failed"]


def test_indexed_documents_have_rows_and_empty_ones_have_none(synced: Synced) -> None:
    with_rows = {row["source"] for row in synced.rows()}
    assert with_rows == {s for s, state in synced.states().items() if state == "INDEXED"}


def test_verify_finds_nothing(synced: Synced) -> None:
    assert synced.is_verified()


def test_a_second_run_embeds_and_writes_nothing(synced: Synced) -> None:
    again = synced.ingest()
    assert again.embeddings == {"computed": 0, "cached": 0, "tokens": 0}
    assert again.chunks["written"] == again.chunks["deleted"] == 0
    assert again.documents["unchanged"] + again.documents["empty"] == again.documents["seen"]


def test_a_new_modification_time_changes_nothing(synced: Synced) -> None:
    for path in visible_files(synced.folder)[:20]:
        os.utime(path, (2_000_000_000, 2_000_000_000))
    again = synced.ingest()
    assert again.documents["updated"] == 0
    assert again.chunks["written"] == 0


def test_an_edited_paragraph_embeds_its_own_chunks_only(synced: Synced) -> None:
    before = synced.rows()
    source = longest_document(before)
    mine = {row["content_sha256"] for row in before if row["source"] == source}
    edit_in_the_middle(synced.path(source))
    receipt = synced.ingest()
    after = {row["content_sha256"] for row in synced.rows() if row["source"] == source}
    new = after - {row["content_sha256"] for row in before}
    assert receipt.documents["updated"] == 1
    assert receipt.embeddings["computed"] == len(new)
    assert 1 <= len(new) <= 2
    assert len(mine - after) <= 2
    assert synced.is_verified()


def longest_document(rows: list[Row]) -> str:
    """Where the document with the most chunks came from."""
    last = max(rows, key=lambda row: (row["chunk_index"], row["source"]))
    return str(last["source"])


def edit_in_the_middle(path: Path) -> None:
    """Change one word of one paragraph of prose and leave every other byte as it is."""
    parts = path.read_bytes().decode("utf-8").split("\n\n")
    prose = [n for n, part in enumerate(parts) if part[:1].isalpha() and len(part) > 60]
    chosen = prose[len(prose) // 2]
    parts[chosen] = parts[chosen].replace(" ", " certainly ", 1)
    path.write_bytes("\n\n".join(parts).encode("utf-8"))


def test_no_frontmatter_gets_into_a_chunk(synced: Synced) -> None:
    firsts = [row for row in synced.rows() if row["chunk_index"] == 0]
    fenced = 0
    for row in firsts:
        block = frontmatter(synced.path(row["source"]))
        assert not row["content"].startswith("+++")
        if block:
            fenced += 1
            assert row["content"].partition("\n")[0].strip() not in block
            assert "\n".join(block[:2]) not in row["content"]
    assert fenced > 40


def frontmatter(path: Path) -> list[str]:
    """The lines between the fences at the start of a file, fences included; none: empty."""
    lines = [line.rstrip() for line in path.read_text("utf-8-sig").splitlines()]
    if not lines or lines[0] not in FENCES or lines[0] not in lines[1:]:
        return []
    return lines[: lines.index(lines[0], 1) + 1]
