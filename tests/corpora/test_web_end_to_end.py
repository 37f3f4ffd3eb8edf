"""Search results from the write to the citation: who finds what, and until when."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pincite.catalog.database import now_ms
from pincite.errors import EvidenceNotFound, ItemInvalid, ScopeRequired
from pincite.retrieval.citation import Citation, cite
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.settings import Settings, load_settings
from pincite.wiring import Workspace, open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.online import ItemReceipt, write_items
from pincite.writing.preview import preview
from pincite.writing.receipt import Receipt
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

QUERY = "When do night trains to Brussels return?"
PAGE = "<html><body><main><p>Night trains to Brussels return in {}.</p></main></body></html>"
HOUR = 3_600_000


class Web:
    """One home; each piece of work in an event loop of its own."""

    def __init__(self, folder: Path, **given: Any) -> None:
        self.folder = folder
        self.given = given

    @property
    def settings(self) -> Settings:
        given = {
            "home": self.folder / "home",
            "embedder.provider": "hash",
            "store.uri": f"memory://{self.folder}",
            "rag.retrieve.timeout-ms": 10_000,
            "web.write-timeout-ms": 60_000,
            **self.given,
        }
        return load_settings(given, folder=self.folder, environment={})

    def run(self, work: Callable[[Workspace], Coroutine[Any, Any, Any]]) -> Any:
        async def inside() -> Any:
            async with open_workspace(self.settings) as workspace:
                return await work(workspace)

        return asyncio.run(inside())

    def write(self, *values: dict[str, Any], kb_scope: str = "") -> ItemReceipt:
        return self.run(lambda _: write_items("web", values, kb_scope))

    def look(self, query: str = QUERY, later_ms: int = 0, **options: Any) -> LookupResult:
        request = request_from_settings(self.settings, query, corpus="web", **options)

        async def ask(workspace: Workspace) -> LookupResult:
            parts = replace(workspace.lookup_parts, clock=lambda: now_ms() + later_ms)
            return await lookup_direct(request, parts)

        return self.run(ask)

    def cite(self, key: str, **scope_ids: str) -> Citation:
        async def resolve(workspace: Workspace) -> Citation:
            return cite(key, workspace.catalog, workspace.texts, corpus="web", scope_ids=scope_ids)

        return self.run(resolve)

    def rows(self) -> list[dict[str, Any]]:
        async def read(workspace: Workspace) -> list[dict[str, Any]]:
            live = workspace.catalog.generations.live("web")
            if live is None:
                return []
            pages = workspace.store.scan(live.collection, None, ["doc_id", "content"])
            return [row async for page in pages for row in page.to_pylist()]

        return self.run(read)


@pytest.fixture
def web(tmp_path: Path) -> Web:
    return Web(tmp_path)


def page(number: int = 1, month: str = "December", **fields: Any) -> dict[str, Any]:
    return {
        "session_id": "s-1",
        "query_id": "q-1",
        "url": f"https://news{number}.example/trains?id={number}",
        "title": "Night trains",
        "content": PAGE.format(month),
        "source_rank": number,
        **fields,
    }


def ago(hours: int) -> str:
    return (datetime.now(UTC) - timedelta(hours=hours)).isoformat()


def excerpts(result: LookupResult) -> list[str]:
    return [entry["excerpt"] for entry in result.results]


def test_result_is_found_by_its_session_as_soon_as_it_is_written(web: Web) -> None:
    receipt = web.write(page())
    assert receipt.as_dict()["counts"] == {"indexed": 1, "pending": 0, "failed": 0, "expired": 0}
    assert receipt.items[0].id == "https://news1.example/trains?id=1"
    for ids in (
        {"session_id": "s-1"},
        {"query_id": "q-1"},
        {"session_id": "s-1", "query_id": "q-1"},
    ):
        found = web.look(**ids)
        assert excerpts(found) == ["Night trains to Brussels return in December."]
        assert found.results[0]["source"] == "https://news1.example/trains?id=1"
        assert found.trace.selected_attempt != "LEGACY"


@pytest.mark.parametrize(
    "ids",
    [
        {"session_id": "s-2"},
        {"query_id": "q-2"},
        {"session_id": "s-1", "query_id": "q-2"},
        {"session_id": "q-1"},
        {"session_id": "*"},
        {"session_id": "%"},
    ],
)
def test_nobody_else_finds_it(web: Web, ids: dict[str, str]) -> None:
    web.write(page())
    assert web.look(**ids).results == []


def test_lookup_without_any_id_is_an_error(web: Web) -> None:
    with pytest.raises(ScopeRequired):
        web.look()


def test_same_page_replaces_and_another_one_does_not(web: Web) -> None:
    first = web.write(page(1, "December"))
    second = web.write(page(1, "March", url="https://NEWS1.example:443/trains?utm_source=x&id=1#a"))
    assert first.items[0].doc_id == second.items[0].doc_id
    assert excerpts(web.look(session_id="s-1")) == ["Night trains to Brussels return in March."]
    web.write(page(1, "May", url="https://news1.example/trains?id=2"))
    assert len(excerpts(web.look(session_id="s-1"))) == 2
    web.write(page(1, "May", session_id="s-2"))
    assert len(excerpts(web.look(session_id="s-1"))) == 2
    assert len(web.rows()) == 3


def test_replaced_text_stays_citable_for_its_session_alone(web: Web) -> None:
    web.write(page(1, "December"))
    entry = web.look(session_id="s-1").results[0]
    key, text = entry["document_id"], entry["excerpt"]
    cited = web.cite(key, session_id="s-1")
    assert (cited.text, cited.state, cited.source) == (text, "current", entry["source"])
    web.write(page(1, "March"))
    assert web.cite(key, session_id="s-1", query_id="q-1").text.endswith("March.")
    for ids in ({"session_id": "s-2"}, {"session_id": "s-1", "query_id": "q-2"}):
        with pytest.raises(EvidenceNotFound):
            web.cite(key, **ids)
    with pytest.raises(ScopeRequired):
        web.cite(key)


def test_expired_results_take_no_place_of_live_ones(web: Web) -> None:
    early = {"fetched_at": ago(20)}
    exact = [page(n, "December", content=QUERY, **early) for n in range(1, 7)]
    web.write(*exact, *(page(n, "December") for n in range(7, 10)))
    now = web.look(session_id="s-1", retrieve_k=3, return_n=3)
    assert excerpts(now) == [QUERY] * 3
    later = web.look(session_id="s-1", retrieve_k=3, return_n=3, later_ms=5 * HOUR)
    assert excerpts(later) == ["Night trains to Brussels return in December."] * 3
    assert web.look(session_id="s-1", later_ms=25 * HOUR).results == []


def test_result_that_is_expired_when_it_comes_is_counted_and_not_kept(web: Web) -> None:
    receipt = web.write(page(1, fetched_at=ago(25)), page(2))
    assert [one.state for one in receipt.items] == ["EXPIRED", "INDEXED"]
    assert len(web.rows()) == 1


def test_one_bad_result_leaves_nothing_of_its_call(web: Web) -> None:
    with pytest.raises(ItemInvalid):
        web.write(page(1), page(2, url="ftp://example.org/"))
    assert web.rows() == []


def test_trust_is_part_of_the_order_and_shown(tmp_path: Path) -> None:
    trust = [{"domain": "news2.example", "weight": 1.0}, {"domain": "news1.example", "weight": 0.0}]
    web = Web(tmp_path, **{"web.trust": trust})
    web.write(page(1), page(2, url="https://www.news2.example/"), page(3))
    blocks = web.look(session_id="s-1").as_dict()["context"]["blocks"]
    assert [block["source"].split("/")[2] for block in blocks] == [
        "www.news2.example",
        "news3.example",
        "news1.example",
    ]
    assert [block["scores"]["trust"] for block in blocks] == [1.0, 0.5, 0.0]
    assert [block["scores"]["sourceRank"] for block in blocks] == pytest.approx(
        [0.5, 0.3869, 1.0], abs=1e-4
    )
    assert all(0 <= block["score"] <= 1 for block in blocks)


def test_legacy_path_gives_the_search_engines_order_with_the_same_keys(tmp_path: Path) -> None:
    core = Web(tmp_path)
    core.write(page(3), page(1), page(2, source_rank=None))
    legacy = Web(tmp_path, **{"web.rag.enabled": False}).look(session_id="s-1")
    assert legacy.trace.selected_attempt == "LEGACY"
    assert [one["source"].split("/")[2] for one in legacy.results] == [
        "news1.example",
        "news3.example",
        "news2.example",
    ]
    known = {one["document_id"] for one in core.look(session_id="s-1").results}
    assert {one["document_id"] for one in legacy.results} == known


def lines(folder: Path, *values: Any) -> Path:
    path = folder / "results.jsonl"
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), "utf-8")
    return path


def ingested(web: Web, path: Path) -> Receipt:
    request = IngestRequest((str(path),), "web")
    return web.run(lambda _: ingest(request, DIRECT))


def test_file_of_results_is_ingested_and_a_bad_line_fails_alone(web: Web, tmp_path: Path) -> None:
    when = {"fetched_at": ago(1)}
    path = lines(tmp_path, page(1, **when), page(2, url="nowhere"), page(3, **when), ["no object"])
    receipt = ingested(web, path)
    assert (receipt.documents["added"], receipt.documents["failed"]) == (2, 2)
    assert {entry["code"] for entry in receipt.failures} == {"ITEM_INVALID"}
    assert all("nowhere" not in entry["message"] for entry in receipt.failures)
    assert len(web.look(session_id="s-1").results) == 2
    again = ingested(web, path)
    assert (again.documents["unchanged"], again.chunks["written"]) == (2, 0)


def test_dry_run_says_what_would_be_and_changes_nothing(web: Web, tmp_path: Path) -> None:
    path = lines(tmp_path, page(1), page(1, "March"), page(2))
    request = IngestRequest((str(path),), "web")
    shown = web.run(lambda _: preview(request)).as_dict()
    assert shown["documents"]["added"] == 2
    assert web.rows() == []
    assert web.run(_counts) == {}
    ingested(web, path)
    assert web.run(_counts) == {"INDEXED": 2}
    lines(tmp_path, page(2, "May"))
    assert web.run(lambda _: preview(request)).as_dict()["documents"]["updated"] == 1
    assert "May" not in str(web.rows())


async def _counts(workspace: Workspace) -> dict[str, int]:
    return workspace.catalog.items["web"].counts()
