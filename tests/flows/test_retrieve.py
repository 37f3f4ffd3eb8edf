"""The retrieve flow on a real Prefect server."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.runtime import flow_run as runtime

from pincite.errors import StoreRejected, StoreUnreachable
from pincite.flows import retrieve as flows
from pincite.flows.retrieve import retrieve
from pincite.retrieval.pipeline import lookup
from pincite.retrieval.request import request_from_settings
from pincite.retrieval.retriever import Found, RetrieveRequest
from pincite.retrieval.steps import direct_steps
from pincite.retrieval.trace import Deadline
from pincite.tasks import retrieve as tasks
from pincite.writing.ingest import ingest
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

PAGES = {
    "lease.md": ("operations", "[lease, lock]", "One writer holds the lease of a corpus."),
    "ledger.md": ("concepts", "[ledger, citation]", "The ledger keeps every text that was cited."),
    "alias.md": ("operations", "[alias, switch]", "The alias follows the live generation."),
    "hnsw.md": ("concepts", "[hnsw, index]", "HNSW is a graph of neighbours, 向量索引的一种。"),
    "zh.md": ("guide", "[索引, 向量]", "向量数据库用索引来找最近的邻居。"),
    "long.md": ("guide", "[long]", "\n\n".join(f"Chapter {n} on the lease." for n in range(400))),
}
QUERIES = ["who holds the lease", "ledger of citations", "向量索引", "HNSW neighbours", "zzz qqq"]
OPTIONS = [
    {},
    {"mode": "dense"},
    {"mode": "lexical"},
    {"mode": "hybrid", "return_n": 2, "retrieve_k": 7},
    {"category": "guide"},
    {"category": "nothing has this"},
    {"kb_scope": "team"},
    {"kb_scope": "nobody"},
    {"return_n": 1},
    {"corpus": "docs,web", "session_id": "s"},
    {"corpus": "web", "session_id": "s"},
]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, (category, keywords, body) in PAGES.items():
        head = f"---\ntitle: {name}\ncategory: {category}\nkeywords: {keywords}\n---\n"
        (folder / name).write_text(f"{head}{body}\n", "utf-8")
    return folder


def fill(pages):
    async def work(_):
        await ingest(IngestRequest((str(pages),)), DIRECT)
        await ingest(IngestRequest((str(pages),), source="team", kb_scope="team"), DIRECT)

    return work


def without_latencies(value):
    """The JSON without what differs from run to run."""
    if isinstance(value, dict):
        return {k: without_latencies(v) for k, v in value.items() if k != "latencyMs"}
    return [without_latencies(one) for one in value] if isinstance(value, list) else value


def direct(workspace, query, **given):
    request = request_from_settings(workspace.settings, query, **given)
    return lookup(request, direct_steps(workspace.lookup_parts))


async def named(flow_run_id, wanted):
    """Names of the task runs, once the wanted one has reached the server."""
    only = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run_id]))
    async with get_client() as client:
        for _ in range(50):
            runs = await client.read_task_runs(flow_run_filter=only)
            if any(run.name == wanted and run.end_time for run in runs):
                break
            await asyncio.sleep(0.2)
    return runs


def test_flow_gives_what_the_online_path_gives(run_flow, pages):
    requests = [(query, options) for query in QUERIES for options in OPTIONS]
    assert len(requests) >= 40

    async def work(workspace):
        await fill(pages)(workspace)
        pairs = []
        for number, (query, options) in enumerate(requests):
            given = {**options, "trace_id": f"t-{number}"}
            online = (await direct(workspace, query, **given)).as_dict()
            pairs.append((online, await retrieve(query, **given)))
        return pairs

    for online, flow in run_flow(work):
        assert without_latencies(flow) == without_latencies(online)


def test_the_fallback_branch_is_seen_by_its_name(run_flow, pages):
    seen = {}

    async def pack(*given):
        seen["id"] = runtime.id
        return await tasks.pack(*given)

    async def work(workspace):
        await fill(pages)(workspace)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(flows, "STEPS", replace(flows.STEPS, pack=pack))
            found = await retrieve("who holds the lease", category="nothing has this")
        return found, await named(seen["id"], "record the lookup")

    found, runs = run_flow(work)
    assert found["retrievalTrace"]["fallbackReason"] == "filtered_vector_no_evidence"
    names = [run.name for run in runs]
    assert "search docs FILTERED_VECTOR" in names
    assert "search docs UNFILTERED_VECTOR_RETRY" in names
    assert {"pin the generation of docs", "embed the query for docs", "cut to 5"} <= set(names)


class Failing:
    """A retriever whose first answers are errors."""

    def __init__(self, inner, errors):
        self.inner, self.errors, self.calls = inner, list(errors), 0

    async def retrieve(self, request: RetrieveRequest) -> Found:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return await self.inner.retrieve(request)


def with_errors(workspace, *errors):
    parts = workspace.lookup_parts
    retriever = Failing(parts.retriever, errors)
    workspace.__dict__["lookup_parts"] = replace(parts, retriever=retriever)
    return retriever


def test_a_store_that_fails_once_is_asked_again(run_flow, pages):
    async def work(workspace):
        await fill(pages)(workspace)
        retriever = with_errors(workspace, StoreUnreachable("Gone for a moment."))
        return await retrieve("who holds the lease"), retriever.calls

    found, calls = run_flow(work)
    assert (found["evidenceStatus"] != "NONE", calls) == (True, 2)
    assert found["retrievalTrace"]["degradations"] == []


@pytest.mark.parametrize(
    ("error", "given"),
    [
        (StoreRejected("No."), {}),
        # The deadline leaves no time for another try.
        (StoreUnreachable("Gone."), {"timeout_ms": 150}),
    ],
)
def test_what_cannot_help_is_not_tried_again(run_flow, pages, error, given):
    async def work(workspace):
        await fill(pages)(workspace)
        retriever = with_errors(workspace, error, error)
        request = request_from_settings(workspace.settings, "lease", **given)
        pinned = await direct_steps(workspace.lookup_parts).pin("docs")
        from pincite.retrieval.hints import Hints
        from pincite.retrieval.search import question_of

        question = question_of(request, "lease", Hints(), None)
        with pytest.raises(type(error)):
            await in_flow(pinned, request, question, Deadline(request.timeout_ms))
        return retriever.calls

    assert run_flow(work) == 1


async def in_flow(pinned, request, question, deadline):
    from prefect import flow

    @flow(name="one search", persist_result=False)
    async def one() -> None:
        await tasks.search(pinned, request, question, "UNFILTERED_VECTOR", deadline)

    await one()


def test_nothing_to_search_ends_the_flow_with_the_stores_error(run_flow, pages):
    async def work(workspace):
        await fill(pages)(workspace)
        with_errors(workspace, *[StoreUnreachable("Gone.")] * 4)
        with pytest.raises(StoreUnreachable):
            await retrieve("lease")

    run_flow(work)
