"""``pincite mcp``: a process of its own that an official client starts and ends."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from pincite.settings import load_settings
from pincite.stack import FILE_NAME, LOCK_NAME, Stack
from pincite.testing.mcp_kit import (
    MODES,
    TIMEOUT_S,
    error,
    excerpts,
    owner,
    talk,
    value,
    write_folder,
)

SNAPSHOT = Path(__file__).with_name("mcp_tools.json")
PARIS = "notes/paris.md#chunk-0"
DOCUMENTS = {"paris.md": "# Paris\n\nThe capital of France is Paris, Париж, 巴黎.\n"}
COMMAND = ("-m", "pincite", "mcp")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home on Milvus Lite, ingested by another process, which leaves the store unlocked."""
    folder = tmp_path_factory.mktemp("mcp-stdio")
    notes = folder / "notes"
    notes.mkdir()
    for name, text in DOCUMENTS.items():
        (notes / name).write_text(text, "utf-8")
    ingest = [sys.executable, "-m", "pincite", "ingest", str(notes), "--direct"]
    subprocess.run(
        ingest, env=environment(folder / "home"), check=True, capture_output=True, timeout=120
    )
    return folder / "home"


def environment(home: Path, **more: str) -> dict[str, str]:
    bare = {name: one for name, one in os.environ.items() if not name.startswith("PINCITE_")}
    own = {
        "PINCITE_HOME": str(home),
        "PINCITE_EMBEDDER__PROVIDER": "hash",
        "PINCITE_RAG__RETRIEVE__TIMEOUT_MS": "20000",
        "PINCITE_MEMORY__WRITE_TIMEOUT_MS": "20000",
    }
    return {**bare, **own, **more}


def of(**ids: str) -> dict[str, str]:
    """The settings by which a client says whose memory it is."""
    return {f"PINCITE_MCP__{name.upper()}": one for name, one in ids.items()}


BOTH = {"PINCITE_LOOKUP__CORPORA": '["docs", "memory"]'}


@asynccontextmanager
async def connected(home: Path, mode: str = MODES[0], **more: str) -> AsyncIterator[Client]:
    """An official client of a server that it starts itself."""
    server = StdioServerParameters(
        command=sys.executable, args=list(COMMAND), env=environment(home, **more), cwd=home.parent
    )
    with (home.parent / "server.log").open("a") as log:
        transport = stdio_client(server, errlog=log)
        async with Client(transport, mode=mode, read_timeout_seconds=2 * TIMEOUT_S) as client:
            yield client


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_answers(home: Path, mode: str) -> None:
    async def work() -> None:
        more = {**BOTH, **of(**owner("u-1", conversation=mode))}
        async with connected(home, mode, **more) as client:
            tools = (await client.list_tools()).tools
            shown = [one.model_dump(by_alias=True, exclude_none=True) for one in tools]
            assert shown == json.loads(SNAPSHOT.read_text("utf-8"))
            found = value(await client.call_tool("lookup_knowledge", {"query": "capital 巴黎"}))
            assert found["results"][0]["document_id"] == PARIS
            cited = value(await client.call_tool("cite", {"document_id": PARIS}))
            assert cited["text"] == found["results"][0]["excerpt"]
            text = f"Paris [{PARIS}], Rome [notes/rome.md#chunk-0]"
            checked = value(await client.call_tool("check_citations", {"text": text}))
            assert (checked["valid"], checked["unknown"]) == ([PARIS], ["notes/rome.md#chunk-0"])
            kept = value(await client.call_tool("remember", {"text": "Likes зелёный чай 🍵."}))
            assert kept["state"] == "INDEXED"
            found = value(await client.call_tool("lookup_knowledge", {"query": "зелёный чай"}))
            assert "Likes зелёный чай 🍵." in excerpts(found)

    talk(work)


def test_a_connection_knows_only_its_own_lookups_and_its_own_user(home: Path) -> None:
    async def first() -> str:
        async with connected(home, **BOTH, **of(**owner("u-2"))) as client:
            value(await client.call_tool("remember", {"text": "The code is 4711."}))
            found = value(await client.call_tool("lookup_knowledge", {"query": "code 4711"}))
            return next(r["document_id"] for r in found["results"] if r["corpus"] == "memory")

    async def second(key: str) -> None:
        async with connected(home, **BOTH, **of(**owner("u-3"))) as client:
            checked = value(await client.call_tool("check_citations", {"text": f"[{key}]"}))
            assert (checked["valid"], checked["unknown"]) == ([], [key])
            found = value(await client.call_tool("lookup_knowledge", {"query": "code 4711"}))
            assert "The code is 4711." not in excerpts(found)
            told = error(await client.call_tool("cite", {"document_id": key}))
            assert told.startswith("EVIDENCE_NOT_FOUND: ")

    key = talk(first)
    talk(lambda: second(key))


def test_without_ids_it_says_where_to_configure_them(home: Path) -> None:
    async def work() -> None:
        async with connected(home, **BOTH) as client:
            told = error(await client.call_tool("remember", {"text": "Likes tea."}))
            assert told.startswith("SCOPE_REQUIRED: ")
            assert "[mcp]" in told
            assert "PINCITE_MCP__USER_ID" in told
            found = value(await client.call_tool("lookup_knowledge", {"query": "capital"}))
            assert found["degradations"] == ["scope_required"]
            assert found["results"][0]["document_id"] == PARIS
            told = error(await client.call_tool("lookup_knowledge", {"query": "x" * 8_001}))
            assert told.startswith("REQUEST_INVALID: ")
            arguments = {"query": "x", "user_id": "u-1"}
            told = error(await client.call_tool("lookup_knowledge", arguments))
            assert told.startswith("REQUEST_INVALID: ")

    talk(work)


def test_it_uses_the_store_of_a_running_stack(
    own_lite_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    given = {"home": home, "embedder.provider": "hash", "store.uri": own_lite_uri}
    settings = load_settings(given, folder=tmp_path, environment={})
    home.mkdir()
    write_folder(settings, tmp_path / "notes", DOCUMENTS)

    async def work() -> None:
        async with connected(home) as client:
            found = value(await client.call_tool("lookup_knowledge", {"query": "capital"}))
            assert found["results"][0]["document_id"] == PARIS

    stack = Stack(os.getpid(), "http://127.0.0.1:1/api", "http://127.0.0.1:1", own_lite_uri)
    (home / FILE_NAME).write_text(json.dumps(asdict(stack)), "utf-8")
    with (home / LOCK_NAME).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        talk(work)
    assert not (home / "milvus.db").exists()


class Process:
    """A server that is spoken to line by line."""

    def __init__(self, home: Path, **more: str) -> None:
        self.child = subprocess.Popen(
            [sys.executable, *COMMAND],
            cwd=home.parent,
            env=environment(home, **more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, *messages: dict[str, Any]) -> None:
        assert self.child.stdin is not None
        for message in messages:
            self.child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.child.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.child.stdout is not None
        message: dict[str, Any] = json.loads(self.child.stdout.readline())
        return message

    def end(self) -> tuple[list[dict[str, Any]], str, int]:
        """Every further message, the log, and the exit status; stdin is closed."""
        out, err = self.child.communicate(timeout=TIMEOUT_S)
        return [json.loads(line) for line in out.splitlines()], err.decode(), self.child.returncode


@pytest.fixture
def start(home: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def begin(where: Path = home, **more: str) -> Process:
        started.append(Process(where, **more))
        return started[-1]

    yield begin
    for one in started:
        if one.child.poll() is None:
            one.child.kill()
            one.child.communicate()


INITIALIZE = {
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"method": "notifications/initialized"}


def asks(number: int, query: str) -> dict[str, Any]:
    arguments = {"name": "lookup_knowledge", "arguments": {"query": query}}
    return {"id": number, "method": "tools/call", "params": arguments}


def test_it_answers_before_its_store_is_open(start: Callable[..., Process]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        slow = {"PINCITE_STORE__TIMEOUT_MS": "4000", "PINCITE_RAG__RETRIEVE__TIMEOUT_MS": "1000"}
        process = start(PINCITE_STORE__URI=uri, **slow)
        process.send(INITIALIZE, INITIALIZED, asks(1, "capital of France"))
        assert process.read()["result"]["serverInfo"]["name"] == "pincite"
        answered = time.monotonic()
        told = process.read()["result"]["content"][0]["text"]
        assert told.startswith("STORE_UNREACHABLE: ")
        assert time.monotonic() - answered > 2
        assert process.end()[2] == 0


def test_closing_its_input_ends_it_once_all_is_answered(start: Callable[..., Process]) -> None:
    process = start()
    process.send(INITIALIZE, INITIALIZED, *(asks(n, "capital of France") for n in (1, 2, 3)))
    messages, log, status = process.end()
    assert status == 0
    assert log == ""
    assert sorted(one["id"] for one in messages) == [0, 1, 2, 3]
    assert all("result" in one for one in messages)


@pytest.mark.parametrize("wanted", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(start: Callable[..., Process], wanted: signal.Signals) -> None:
    process = start()
    process.send(INITIALIZE, INITIALIZED, asks(1, "capital of France"))
    assert [process.read()["id"], process.read()["id"]] == [0, 1]
    process.child.send_signal(wanted)
    assert process.child.wait(TIMEOUT_S) == 0
    assert process.end()[:2] == ([], "")


def test_what_is_no_message_does_not_end_it(start: Callable[..., Process]) -> None:
    process = start()
    assert process.child.stdin is not None
    process.child.stdin.write(b'\xff\xfe no JSON\n\n{"jsonrpc": "2.0"}\n' + b"x" * 200_000 + b"\n")
    long = "что там 什么 " * 20_000
    process.send(INITIALIZE, INITIALIZED, asks(1, long))
    messages, _, status = process.end()
    answer = next(one for one in messages if one.get("id") == 1)
    assert answer["result"]["isError"] is True
    assert answer["result"]["content"][0]["text"].startswith("REQUEST_INVALID: ")
    assert status == 0


def test_its_input_may_be_a_file(home: Path, tmp_path: Path) -> None:
    given = tmp_path / "requests.jsonl"
    lines = [INITIALIZE, INITIALIZED, asks(1, "capital of France")]
    given.write_text("\n".join(json.dumps({"jsonrpc": "2.0", **one}) for one in lines), "utf-8")
    with given.open("rb") as file:
        done = subprocess.run(
            [sys.executable, *COMMAND],
            stdin=file,
            env=environment(home),
            cwd=tmp_path,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=True,
        )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1]


def test_a_wrong_configuration_is_told_on_stderr(start: Callable[..., Process]) -> None:
    process = start(PINCITE_SERVE__PORT="none")
    messages, log, status = process.end()
    assert (messages, status) == ([], 2)
    assert log.startswith("CONFIG_INVALID: ")
    assert "Traceback" not in log


def test_a_locked_store_is_told_by_the_tool_and_citations_still_resolve(
    home: Path, start: Callable[..., Process]
) -> None:
    holder = start()
    holder.send(INITIALIZE, INITIALIZED, asks(1, "capital of France"))
    assert [holder.read()["id"], holder.read()["id"]] == [0, 1]

    async def work() -> None:
        async with connected(home) as client:
            told = error(await client.call_tool("lookup_knowledge", {"query": "capital"}))
            assert told.startswith("STORE_LOCKED: ")
            assert "pincite up" in told
            cited = value(await client.call_tool("cite", {"document_id": PARIS}))
            assert cited["state"] == "current"

    talk(work)
