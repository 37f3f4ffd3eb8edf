"""Snapshots of two layouts of the same documents, judged by the same cases."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pincite.evaluation.asking import ask_all
from pincite.evaluation.diff.reports import diff_reports
from pincite.evaluation.fixtures import read_fixtures, write_fixture
from pincite.evaluation.report.document import make_report
from pincite.evaluation.verdict import judge
from pincite.settings import Settings, load_settings
from pincite.testing.evaluation import golden_case
from pincite.testing.foreign_layouts import ForeignRow, write_foreign
from pincite.wiring import Workspace, open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

DOCUMENTS = {
    "lease.md": "One writer holds the lease of a corpus.",
    "lamp.md": "The lamp of the lighthouse turns every ten seconds.",
    "harbour.md": "Ships wait outside of the harbour at low tide.",
}
CASES = [
    golden_case("lease", query="the lease of a corpus", expectedSources=["rag-eval/lease.md"]),
    golden_case("lamp", query="lamp of the lighthouse", expectedSources=["rag-eval/lamp.md"]),
    golden_case(
        "as-a-user",
        query="the lease of a corpus",
        kbScope="",
        forbiddenSources=["rag-eval/lease.md"],
    ),
]
COLUMNS = ("doc_id", "chunk_index", "source", "title", "kb_scope", "content", "embedding")


def settings_of(place: Path, mode: str) -> Settings:
    given = {
        "home": place / "home",
        "embedder.provider": "hash",
        "retrieval.vector-store.mode": mode,
        "retrieval.vector-store.collection": "" if mode == "native" else mode,
    }
    return load_settings(given, folder=place, environment={})


async def rows_of(workspace: Workspace) -> list[dict[str, Any]]:
    live = workspace.catalog.generations.require_live("docs")
    pages = [page async for page in workspace.store.scan(live.collection, None, COLUMNS)]
    return [row for page in pages for row in page.to_pylist()]


async def seed(place: Path) -> list[dict[str, Any]]:
    documents = place / "documents"
    documents.mkdir()
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text, "utf-8")
    async with open_workspace(settings_of(place, "native")) as workspace:
        request = IngestRequest((str(documents),), source="rag-eval", kb_scope="rag-eval")
        assert (await ingest(request, DIRECT)).ok
        return await rows_of(workspace)


def foreign(row: dict[str, Any]) -> ForeignRow:
    metadata = {
        "docId": row["doc_id"],
        "chunkIndex": row["chunk_index"],
        "source": row["source"],
        "title": row["title"],
        "kbScope": row["kb_scope"],
    }
    return ForeignRow(row["content"], row["embedding"], metadata)


async def snapshot(place: Path, mode: str) -> list[dict[str, Any]]:
    async with open_workspace(settings_of(place, mode)) as workspace:
        return await ask_all(CASES, workspace)


@pytest.mark.parametrize("mode", ["spring", "sdk"])
def test_a_foreign_layout_returns_what_the_native_one_does(tmp_path, mode):
    rows = asyncio.run(seed(tmp_path))
    store = str(settings_of(tmp_path, "native").store_uri)
    write_foreign(store, mode, mode, [foreign(row) for row in rows])
    reports = []
    for one in ("native", mode):
        results = asyncio.run(snapshot(tmp_path, one))
        for case, result in zip(CASES, results, strict=True):
            write_fixture(tmp_path / one, case, result)
        answers = read_fixtures(tmp_path / one, CASES)
        verdicts = [judge(case, answer) for case, answer in zip(CASES, answers, strict=True)]
        reports.append(make_report(verdicts, origin="fixtures"))
    native, other = reports
    assert (native["ok"], other["ok"]) == (True, True)
    diff = diff_reports(native, other)
    assert list(diff.fails(("failed", "hit", "rank"), ())) == []
    # The same evidence, but the other layout has no full text, and the trace says so.
    assert "hybrid_unsupported" in other["cases"][0]["path"]["degradations"]
    assert native["cases"][0]["path"]["degradations"] == []
