"""Who reaches the tools over HTTP, and that nobody reaches another's memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pincite.errors import StoreUnreachable
from pincite.serving.access import Gatekeeper
from pincite.serving.mcp_http import mcp_app
from pincite.serving.service import Service
from pincite.settings import Settings, load_settings
from pincite.testing.faults import put, raising
from pincite.testing.mcp_kit import (
    MODES,
    Served,
    error,
    excerpts,
    mcp_over_http,
    owner,
    talk,
    value,
    write_folder,
)
from pincite.wiring import Workspace

ANNA, BEN, READER, WRITER = (f"{name}-{'0' * 16}" for name in ("anna", "ben", "reader", "writer"))
DOCUMENT = {"plan.md": "# Plan\n\nThe release is on Friday.\n"}
PLAN = "notes/plan.md#chunk-0"
ASK = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def settings_of(folder: Path, **more: Any) -> Settings:
    both = ["docs", "memory"]
    tokens = [
        {"name": "anna", "token": ANNA, "corpora": both, "rights": ["read", "write"],
         **owner("anna")},
        {"name": "ben", "token": BEN, "corpora": both, "rights": ["read", "write"],
         **owner("ben")},
        {"name": "reader", "token": READER},
        {"name": "writer", "token": WRITER, "corpora": ["memory"], "rights": ["write"]},
    ]  # fmt: skip
    given = {
        "home": folder / "home",
        "embedder.provider": "hash",
        "store.uri": f"memory://{folder}",
        "lookup.corpora": both,
        "rag.retrieve.timeout-ms": 20_000,
        "memory.write-timeout-ms": 20_000,
        "serve.tokens": tokens,
        **more,
    }
    return load_settings(given, folder=folder, environment={})


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with four tokens: two people, one who reads documents, one who only writes."""
    folder = tmp_path_factory.mktemp("mcp-access")
    settings = settings_of(folder, **{"serve.allowed-hosts": ["mcp.example.org"]})
    write_folder(settings, folder / "notes", DOCUMENT)
    with mcp_over_http(settings) as served:
        yield served


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def call(served: Served, token: str, tool: str, ids: Any = None, **arguments: Any) -> Any:
    async def work() -> Any:
        async with served.client(token, ids) as client:
            return await client.call_tool(tool, arguments)

    return talk(work)


def post(served: Served, path: str = "", **options: Any) -> httpx.Response:
    options["headers"] = {**ACCEPT, **options.get("headers", {})}
    return httpx.post(served.url + path, **{"json": ASK, "timeout": 10, **options})


@pytest.mark.parametrize("sent", [{}, {"Authorization": "Bearer wrong"}])
@pytest.mark.parametrize("path", ["", "/"])
def test_without_a_known_token_nothing_is_read(
    served: Served, sent: dict[str, str], path: str
) -> None:
    answer = post(served, path, headers=sent, content=b"\x00 no JSON", json=None)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="pincite"'
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["status"], problem["code"]) == (401, "TOKEN_REQUIRED")
    assert problem["detail"]
    assert problem["next"]
    assert "wrong" not in answer.text


@pytest.mark.parametrize("path", ["", "/"])
def test_both_spellings_of_the_path_answer_without_a_redirect(served: Served, path: str) -> None:
    bearer = {"Authorization": f"Bearer {READER}"}
    answer = post(served, path, headers=bearer, follow_redirects=False)
    assert answer.status_code == 200
    assert len(answer.json()["result"]["tools"]) == 4


def test_an_official_client_reaches_a_mounted_endpoint(tmp_path: Path) -> None:
    async def work(served: Served, path: str) -> Any:
        async with served.client(READER, path=path) as client:
            return (await client.list_tools()).tools

    with mcp_over_http(settings_of(tmp_path)) as served:
        for path in ("", "/"):
            assert len(talk(lambda path=path: work(served, path))) == 4


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_only_post_is_answered(served: Served, method: str) -> None:
    bearer = {"Authorization": f"Bearer {READER}"}
    answer = httpx.request(method, served.url, headers={**ACCEPT, **bearer}, timeout=10)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("name", "sent", "status"),
    [
        ("host", "evil.example.org", 421),
        ("host", "mcp.example.org", 200),
        ("host", "mcp.example.org:8443", 200),
        ("host", "localhost:1", 200),
        ("host", "[::1]:1", 200),
        ("origin", "https://evil.example.org", 403),
        ("origin", "https://mcp.example.org", 200),
        ("origin", "http://localhost:5173", 403),
    ],
)
def test_hosts_and_origins_are_those_of_the_settings(
    served: Served, name: str, sent: str, status: int
) -> None:
    bearer = {"Authorization": f"Bearer {READER}"}
    assert post(served, headers={**bearer, name: sent}).status_code == status


def test_a_token_opens_what_it_says_and_no_more(served: Served) -> None:
    found = value(call(served, READER, "lookup_knowledge", query="release"))
    assert [one["document_id"] for one in found["results"]] == [PLAN]
    assert found["degradations"] == []
    told = error(call(served, READER, "remember", owner("anna"), text="x"))
    assert told.startswith("ACCESS_DENIED: ")
    for tool, arguments in (
        ("lookup_knowledge", {"query": "x"}),
        ("cite", {"document_id": PLAN}),
        ("check_citations", {"text": "x"}),
    ):
        told = error(call(served, WRITER, tool, owner("w"), **arguments))
        assert told.startswith("ACCESS_DENIED: ")
        assert "Friday" not in told


def test_a_bound_token_is_nobody_else(served: Served) -> None:
    for tool, arguments in (("remember", {"text": "x"}), ("lookup_knowledge", {"query": "x"})):
        told = error(call(served, ANNA, tool, owner("ben"), **arguments))
        assert told.startswith("ACCESS_DENIED: This token is bound to another user_id.")
        assert "anna" not in told


def test_two_people_at_once_never_see_each_other(served: Served, mode: str) -> None:
    secrets = {ANNA: f"anna's secret {mode} number is eleven", BEN: f"ben's is {mode} twelve"}
    asked = "secret number eleven twelve"

    async def one(token: str) -> Sequence[str]:
        async with served.client(token, mode=mode) as client:
            kept = await client.call_tool("remember", {"id": mode, "text": secrets[token]})
            assert value(kept)["state"] == "INDEXED"
            seen = []
            for _ in range(5):
                found = value(await client.call_tool("lookup_knowledge", {"query": asked}))
                seen += [r for r in found["results"] if r["corpus"] == "memory"]
            assert secrets[token] in [r["excerpt"] for r in seen]
            return [r["document_id"] for r in seen if r["excerpt"] == secrets[token]]

    async def pry(token: str, foreign: str) -> None:
        async with served.client(token, mode=mode) as client:
            found = value(await client.call_tool("lookup_knowledge", {"query": asked}))
            others = [text for who, text in secrets.items() if who != token]
            assert not set(others) & set(excerpts(found))
            told = error(await client.call_tool("cite", {"document_id": foreign}))
            assert told.startswith("EVIDENCE_NOT_FOUND: ")
            checked = value(await client.call_tool("check_citations", {"text": f"[{foreign}]"}))
            assert (checked["valid"], checked["unknown"]) == ([], [foreign])
            assert foreign not in checked["unused"]

    async def work() -> None:
        annas, bens = await asyncio.gather(one(ANNA), one(BEN))
        assert not set(annas) & set(bens)
        await asyncio.gather(pry(ANNA, bens[0]), pry(BEN, annas[0]))

    talk(work)


def test_ids_of_headers_part_the_users_of_one_open_server(tmp_path: Path, mode: str) -> None:
    settings = settings_of(tmp_path, **{"serve.tokens": []})

    async def one(served: Served, number: int) -> None:
        async with served.client(ids=owner(f"u-{number}"), mode=mode) as client:
            for step in range(3):
                text = f"the code of step {step} is {number}"
                assert value(await client.call_tool("remember", {"text": text}))["state"]
                found = value(await client.call_tool("lookup_knowledge", {"query": "code step"}))
                assert found["results"]
                assert all(text.endswith(f"is {number}") for text in excerpts(found))

    async def work(served: Served) -> None:
        await asyncio.gather(*(one(served, number) for number in range(6)))

    with mcp_over_http(settings) as served:
        talk(lambda: work(served))


def test_citations_are_checked_against_the_own_connection(served: Served) -> None:
    text = f"On Friday [{PLAN}]."

    async def work() -> None:
        async with served.client(READER) as first, served.client(READER) as second:
            value(await first.call_tool("lookup_knowledge", {"query": "release"}))
            checked = value(await first.call_tool("check_citations", {"text": text}))
            assert checked["valid"] == [PLAN]
            checked = value(await second.call_tool("check_citations", {"text": text}))
            assert (checked["valid"], checked["unknown"]) == ([], [PLAN])

    talk(work)


def test_without_connections_the_ids_part_what_is_checked(served: Served) -> None:
    text = f"On Friday [{PLAN}]."

    async def checked(session: str, *, asks: bool) -> Any:
        async with served.client(READER, {"session_id": session}, MODES[1]) as client:
            if asks:
                value(await client.call_tool("lookup_knowledge", {"query": "release"}))
            return value(await client.call_tool("check_citations", {"text": text}))["valid"]

    async def work() -> None:
        assert await checked("one", asks=True) == [PLAN]
        assert await checked("one", asks=False) == [PLAN]
        assert await checked("two", asks=False) == []

    talk(work)


def test_a_body_over_the_limit_is_refused(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, **{"serve.max-body-bytes": 2_048})
    with mcp_over_http(settings) as served:
        bearer = {"Authorization": f"Bearer {READER}"}
        big = {**ASK, "params": {"_meta": {"x": "y" * 3_000}}}
        assert post(served, headers=bearer, json=big).status_code == 413


def broken(workspace: Workspace) -> None:
    """A fault that nobody expects."""
    fault = raising(LookupError("secret of somebody else"))
    workspace.catalog = put(workspace.catalog, "ledger.entries", fault)


def test_a_fault_tells_nothing_of_itself(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: str
) -> None:
    async def work(served: Served) -> Any:
        async with served.client(READER, mode=mode) as client:
            return await client.call_tool("cite", {"document_id": "x"})

    with mcp_over_http(settings_of(tmp_path), broken) as served, caplog.at_level(logging.INFO):
        told = error(talk(lambda: work(served)))
    assert told.startswith("INTERNAL: The server cannot answer this now (INTERNAL).")
    assert "secret" not in told + caplog.text
    assert "LookupError" not in told
    assert "tool cite failed: LookupError" in caplog.text


def unreachable(workspace: Workspace) -> None:
    """The store is gone."""
    gone = raising(StoreUnreachable("The store at 'http://10.0.0.7:19530' does not answer."))
    workspace.store = put(workspace.store, "search", gone)


def test_what_only_the_operator_can_help_is_told_by_its_code(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_of(tmp_path)
    write_folder(settings, tmp_path / "notes", DOCUMENT)
    with mcp_over_http(settings, unreachable) as served:
        told = error(call(served, READER, "lookup_knowledge", query="x"))
    assert told.startswith("STORE_UNREACHABLE: ")
    assert "10.0.0.7" not in told
    assert "10.0.0.7" in caplog.text


def test_an_endpoint_answers_while_it_runs_and_may_run_again(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, **{"serve.tokens": []})
    endpoint = mcp_app(Service(Workspace(settings)), Gatekeeper(()))
    app = Starlette()
    endpoint.add_to(app)
    client = TestClient(app, base_url="http://localhost")
    stopped = client.post("/mcp", json=ASK, headers=ACCEPT)
    assert (stopped.status_code, stopped.json()["code"]) == (503, "SERVER_BUSY")

    async def runs() -> int:
        transport = httpx.ASGITransport(app)
        async with (
            endpoint.running(),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as http,
        ):
            return (await http.post("/mcp", json=ASK, headers=ACCEPT)).status_code

    assert [asyncio.run(runs()) for _ in range(2)] == [200, 200]
