"""Removing documents online."""

from __future__ import annotations

import asyncio

import pytest

from pincite.errors import CorpusBusy, CorpusEmpty, DocumentNotFound
from pincite.retrieval.citation import cite
from pincite.writing.remove import remove_online
from pincite.writing.target import open_target


def test_removed_document_is_gone_but_its_citation_stays(home, folder):
    home.ingest(folder)
    home.run(lambda _: remove_online("docs", ["notes/ant.md"]))
    assert home.documents() == {"notes/bee.md", "notes/cat.md"}
    found = home.run(lambda w: asyncio.to_thread(cite, "notes/ant.md#chunk-0", w.catalog, w.texts))
    assert found.state == "superseded"
    assert found.current is None
    assert "about the ant" in found.text
    assert home.verified()


def test_removed_document_comes_back_with_the_next_sync(home, folder):
    home.ingest(folder)
    home.run(lambda _: remove_online("docs", ["notes/ant.md"]))
    assert home.ingest(folder).documents["added"] == 1
    assert home.verified()


def test_unknown_document_is_an_error_and_nothing_is_removed(home, folder):
    home.ingest(folder)
    with pytest.raises(DocumentNotFound, match="nope"):
        home.run(lambda _: remove_online("docs", ["notes/ant.md", "nope"]))
    assert len(home.documents()) == 3


def test_empty_corpus_is_an_error(home):
    with pytest.raises(CorpusEmpty):
        home.run(lambda _: remove_online("docs", ["x"]))


def test_document_under_a_living_writer_is_busy(home, folder):
    home.ingest(folder)

    async def work(workspace):
        async with open_target(workspace, "docs") as target:
            workspace.catalog.journal.open_removals(target.writer, ["notes/ant.md"])
            with pytest.raises(CorpusBusy):
                await remove_online("docs", ["notes/ant.md"])

    home.run(work)
    assert "notes/ant.md" in home.documents()
