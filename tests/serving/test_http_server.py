"""`pincite serve` as a process: where it listens, what it says, how it stops."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from pincite.errors import ConfigInvalid
from pincite.retrieval.legacy import LEGACY
from pincite.serving.server import listening_socket, url_of
from pincite.settings.model import ServeSettings
from pincite.stack import FILE_NAME, LOCK_NAME, Stack
from pincite.testing.http_kit import Gate, asked_beside, filled_home, owner, problem, token
from pincite.testing.http_server import ProcessServer, http_process, http_server

SLOW = (str(Path(__file__).with_name("slow_serve.py")),)
QUESTION = {"query": "capital of France"}
TIMEOUT_S = 60


def environment(home: Path, **more: str) -> dict[str, str]:
    own = {
        "PINCITE_HOME": str(home),
        "PINCITE_EMBEDDER__PROVIDER": "hash",
        "PINCITE_RAG__RETRIEVE__TIMEOUT_MS": "60000",
    }
    return {**own, **more}


def command(place: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "pincite", *arguments],
        cwd=place,
        env={**os.environ, **environment(home)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder whose home holds one document, on Milvus Lite."""
    place = tmp_path_factory.mktemp("serve")
    (place / "notes").mkdir()
    (place / "notes" / "paris.md").write_text("The capital of France is Paris.\n", "utf-8")
    done = command(place, place / "home", "ingest", "notes", "--direct")
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def server(place: Path) -> Iterator[ProcessServer]:
    with http_process(place, environment(place / "home")) as server:
        yield server


def slow(place: Path, delay_ms: int, **more: str) -> Any:
    given = environment(place / "home", PINCITE_TEST_SEARCH_MS=str(delay_ms), **more)
    return http_process(place, given, program=SLOW)


def ask(server: ProcessServer) -> httpx.Response:
    with server.client() as client:
        return client.post("/v1/lookup", json=QUESTION)


def wait_for_flight(server: ProcessServer) -> None:
    """Until the server has had time to begin what was just asked of it."""
    with server.client() as client:
        assert client.get("/healthz").status_code == 200
    time.sleep(0.5)


def test_it_says_where_it_listens_and_answers_there(server: ProcessServer) -> None:
    assert server.url.startswith("http://127.0.0.1:")
    assert any(f"{server.url}/mcp" in line for line in server.said)
    found = ask(server).json()
    assert found["results"][0]["excerpt"] == "The capital of France is Paris."
    assert found["retrievalTrace"]["degradations"] == []


def test_it_logs_a_line_a_request_and_nothing_of_the_web_server(server: ProcessServer) -> None:
    trace_id = ask(server).json()["traceId"]
    server.signal()
    assert server.wait() == 0
    lines = [line for line in server.said if trace_id in line]
    assert len(lines) == 1
    assert "route=/v1/lookup status=200" in lines[0]
    assert not any("uvicorn" in line or "HTTP/1.1" in line for line in server.said)


@pytest.mark.parametrize("wanted", [signal.SIGTERM, signal.SIGINT])
def test_a_lookup_in_flight_is_finished(place: Path, wanted: signal.Signals) -> None:
    with slow(place, 2_000) as server, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, server)
        wait_for_flight(server)
        server.signal(wanted)
        time.sleep(0.5)
        with pytest.raises(httpx.TransportError):
            ask(server)
        answer = asked.result(TIMEOUT_S)
        assert answer.status_code == 200
        assert answer.json()["results"][0]["excerpt"] == "The capital of France is Paris."
        assert server.wait() == 0
        assert server.said[-1] == "stopped"


def test_a_second_signal_ends_at_once(place: Path) -> None:
    with slow(place, 8_000) as server, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, server)
        wait_for_flight(server)
        server.signal()
        time.sleep(0.5)
        server.signal()
        assert server.wait(3) == -signal.SIGTERM
        with pytest.raises(httpx.TransportError):
            asked.result(TIMEOUT_S)


def test_what_takes_longer_than_the_grace_is_given_up(place: Path) -> None:
    grace = {"PINCITE_SERVE__GRACE_MS": "300"}
    with slow(place, 8_000, **grace) as server, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, server)
        wait_for_flight(server)
        server.signal()
        problem(asked.result(TIMEOUT_S), 503, "SERVER_BUSY")
        assert server.wait(5) == 0


def test_a_taken_port_is_told(place: Path, server: ProcessServer) -> None:
    port = server.url.rpartition(":")[2]
    done = command(place, place / "home", "serve", "--port", port)
    assert done.returncode == 2
    assert done.stderr.startswith(f"CONFIG_INVALID: Cannot listen on port {port} ")
    assert "something listens there already" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "not a host", "203.0.113.7", " "])
def test_where_it_must_not_listen_it_does_not(place: Path, host: str) -> None:
    done = command(place, place / "home", "serve", "--port", "0", "--host", host)
    assert done.returncode == 2
    assert done.stderr.startswith("CONFIG_INVALID: ")
    assert "Traceback" not in done.stderr


def test_others_are_let_in_with_a_token_only() -> None:
    open_to_all = ServeSettings(host="0.0.0.0", port=0)
    with pytest.raises(ConfigInvalid, match="no token"):
        listening_socket(open_to_all)
    guarded = ServeSettings.model_validate({**open_to_all.model_dump(), "tokens": [token("one")]})
    with listening_socket(guarded) as listener:
        assert url_of(listener).startswith("http://0.0.0.0:")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_loopback_needs_no_token(host: str) -> None:
    with listening_socket(ServeSettings(host=host, port=0)) as listener:
        assert listener.getsockname()[1] > 0


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_an_ipv6_address_is_told_in_brackets() -> None:
    try:
        listener = listening_socket(ServeSettings(host="::1", port=0))
    except ConfigInvalid:
        pytest.skip("this machine has no IPv6 on loopback")
    with listener:
        assert url_of(listener).startswith("http://[::1]:")


def test_it_uses_the_store_of_a_running_stack(tmp_path: Path, own_lite_uri: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    stack = Stack(os.getpid(), "", "", own_lite_uri)
    (home / FILE_NAME).write_text(json.dumps(asdict(stack)), "utf-8")
    (tmp_path / "stacked.md").write_text("Plates are stacked.\n", "utf-8")
    with (home / LOCK_NAME).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = command(tmp_path, home, "ingest", "stacked.md", "--direct")
        assert done.returncode == 0, done.stderr
        with http_process(tmp_path, environment(home)) as server, server.client() as client:
            found = client.post("/v1/lookup", json={"query": "plates"}).json()
    assert [one["excerpt"] for one in found["results"]] == ["Plates are stacked."]
    assert not (home / "milvus.db").exists()


def test_shadow_work_is_waited_for(tmp_path: Path) -> None:
    home = filled_home(tmp_path, **{"memory.rag.rollout": "shadow"})
    home.write("memory", {**owner("alice"), "text": "Alice likes the sea."})
    gate = Gate()
    with http_server(home.settings, gate.before_searches) as server:
        gate.close()
        ids = {"userId": "alice", "assistantId": "a-1", "conversationId": "c-1"}
        answer = asked_beside(server, {"query": "sea", "corpus": "memory", **ids}).result(30)
        assert answer.json()["retrievalTrace"]["selectedAttempt"] == LEGACY
        gate.wait_for_one()
        server.ask_to_stop()
        gate.open()
    lines = home.run(shadow_lines)
    assert [(line.corpus, line.error_code) for line in lines] == [("memory", "")]


async def shadow_lines(workspace: Any) -> list[Any]:
    lines: list[Any] = workspace.catalog.shadows.lines("memory")
    return lines
