"""The crash test's own checks find what they are there to find."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pincite.catalog.leases import Writer
from pincite.identity import chunk_key
from pincite.settings import Settings
from pincite.store.filters import Eq
from pincite.testing.crash_checks import problems_of, rows_in_store
from pincite.testing.crash_child import Order, preload, run_child, sync
from pincite.testing.crash_corpus import NEW, OLD, SOURCE, write_version
from pincite.testing.crash_database import own_database
from pincite.testing.crash_plan import POINTS, before_commit
from pincite.testing.crash_points import OUTSIDE
from pincite.testing.crash_prober import Prober
from pincite.testing.crash_scene import COLLECTION, crash_settings
from pincite.wiring import Workspace, open_workspace
from pincite.writing.request import IngestRequest

DOCUMENT = f"{SOURCE}/02-shrunk.md"
KEY = chunk_key(DOCUMENT, 1)


class Small:
    """The old version of the pages in the in-memory store, and its rows."""

    def __init__(self, folder: Path) -> None:
        self.settings = crash_settings(folder / "home", f"memory://{folder}")
        write_version(folder / SOURCE, OLD, 1)
        sync(self.settings, IngestRequest((str(folder / SOURCE),)))
        self.rows = dict(rows_in_store(self.settings))

    def do(self, work: Callable[[Workspace], Any]) -> None:
        async def inside() -> None:
            async with open_workspace(self.settings) as workspace:
                await work(workspace)

        asyncio.run(inside())

    def problems(self) -> list[str]:
        return problems_of(self.settings, self.rows, frozenset())


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


def test_a_whole_corpus_has_no_problem(small: Small) -> None:
    assert small.problems() == []


def test_a_row_that_is_gone_is_found(small: Small) -> None:
    small.do(lambda workspace: workspace.store.delete(COLLECTION, ids=[KEY]))
    assert f"{KEY}: missing" in small.problems()


def test_a_row_too_many_is_found(small: Small) -> None:
    del small.rows[KEY]
    assert f"{KEY}: should not be there" in small.problems()


def test_another_text_is_found(small: Small) -> None:
    small.rows[KEY] = "0" * 64
    assert f"{KEY}: another text" in small.problems()


def test_a_text_that_a_reader_saw_and_nobody_can_cite_is_found(small: Small) -> None:
    assert problems_of(small.settings, small.rows, [(KEY, "0" * 64)]) == [
        f"{KEY}: cite says EVIDENCE_NOT_FOUND"
    ]


def test_a_document_that_is_open_in_the_journal_is_found(small: Small) -> None:
    async def open_row(workspace: Workspace) -> None:
        writer = Writer("docs", 1, "somebody", fence=0, ttl_ms=60_000)
        workspace.catalog.journal.open_removals(writer, [DOCUMENT])

    small.do(open_row)
    assert f"{DOCUMENT}: open in the journal" in small.problems()


@pytest.fixture
def served(lite_server_uri: str, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a home whose store is a new database of the Milvus Lite server."""
    with own_database(lite_server_uri) as database:
        yield crash_settings(tmp_path / "home", lite_server_uri, database)


def test_the_prober_notices_a_document_that_cannot_be_found(
    served: Settings, tmp_path: Path
) -> None:
    write_version(tmp_path / SOURCE, OLD, 1)
    sync(served, IngestRequest((str(tmp_path / SOURCE),)))
    allowed = {DOCUMENT: frozenset(rows_in_store(served))}

    async def delete() -> None:
        async with open_workspace(served) as workspace:
            await workspace.store.delete(COLLECTION, filter=Eq("doc_id", DOCUMENT))

    with Prober(served, COLLECTION, allowed) as prober:
        assert prober.asked_anew()
        assert prober.take().problems == []
        asyncio.run(delete())
        prober.asked_anew()
        assert f"{DOCUMENT}: nothing was found" in prober.take().problems


def test_the_prober_notices_a_text_of_neither_version(served: Settings, tmp_path: Path) -> None:
    write_version(tmp_path / SOURCE, OLD, 1)
    sync(served, IngestRequest((str(tmp_path / SOURCE),)))
    texts = frozenset(text for text in rows_in_store(served) if text[0] != KEY)
    with Prober(served, COLLECTION, {DOCUMENT: texts}) as prober:
        prober.asked_anew()
        assert f"{KEY}: a text of neither version" in prober.take().problems


def test_a_first_ingest_killed_before_its_generation_is_known_is_put_right(
    served: Settings, tmp_path: Path
) -> None:
    preload()
    write_version(tmp_path / SOURCE, OLD, 1)
    request = IngestRequest((str(tmp_path / SOURCE),))
    registering = before_commit(OUTSIDE, 2)
    life = run_child(Order(served, request, tmp_path / "trail.txt", registering))
    assert life.killed
    assert life.trail[-1] == str(registering)
    sync(served, request)
    assert problems_of(served, dict(rows_in_store(served)), frozenset()) == []


def test_a_child_that_nobody_kills_comes_by_every_place(served: Settings, tmp_path: Path) -> None:
    preload()
    folder = tmp_path / SOURCE
    for serial, version in enumerate((OLD, NEW)):
        write_version(folder, version, serial)
        life = run_child(Order(served, IngestRequest((str(folder),)), tmp_path / "trail.txt"))
        assert not life.killed
    assert {str(point) for point in POINTS} <= set(life.trail)


def test_versions_never_say_again_what_changed_before(tmp_path: Path) -> None:
    page = tmp_path / "01-edited.md"
    said = []
    for serial, version in enumerate((OLD, NEW, OLD, NEW)):
        write_version(tmp_path, version, serial)
        said.append(page.read_text("utf-8"))
    assert len(set(said)) == len(said)
