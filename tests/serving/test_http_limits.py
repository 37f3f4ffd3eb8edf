"""The limits over real HTTP: body, concurrency, rate, names and origins."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from pincite.serving.buckets import Buckets
from pincite.serving.guards import is_loopback, split_host
from pincite.serving.limits import BodyLimit
from pincite.testing.homes import Home
from pincite.testing.http_kit import Gate, asked_beside, bearer, filled_home, problem, token
from pincite.testing.http_server import ThreadServer, http_server

MOST_BYTES = 4_096
JSON = {"content-type": "application/json"}
QUESTION = {"query": "capital of France"}
MCP_HEADERS = {**JSON, "accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("http-limits")
    limits = {"serve.max-body-bytes": MOST_BYTES, "serve.allowed-hosts": ["Pincite.Example.org."]}
    return filled_home(folder, **limits)


@pytest.fixture(scope="module")
def server(home: Home) -> Iterator[ThreadServer]:
    with http_server(home.settings) as server:
        yield server


@pytest.fixture(scope="module")
def client(server: ThreadServer) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def body_of(size: int) -> bytes:
    bare = len(json.dumps({"query": ""}))
    return json.dumps({"query": "x" * (size - bare)}).encode()


def in_pieces(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), 1_000):
        yield data[start : start + 1_000]


@pytest.mark.parametrize("path", ["/v1/lookup", "/v1/memory", "/mcp", "/nope"])
@pytest.mark.parametrize("streamed", [False, True], ids=["with length", "without"])
def test_a_body_over_the_limit_is_refused(client: httpx.Client, path: str, streamed: bool) -> None:
    data = body_of(MOST_BYTES + 1)
    answer = client.post(path, content=in_pieces(data) if streamed else data, headers=JSON)
    problem(answer, 413, "BODY_TOO_LARGE")


@pytest.mark.parametrize("streamed", [False, True], ids=["with length", "without"])
def test_a_body_at_the_limit_is_read(client: httpx.Client, streamed: bool) -> None:
    data = body_of(MOST_BYTES)
    content = in_pieces(data) if streamed else data
    assert client.post("/v1/lookup", content=content, headers=JSON).status_code == 200


def test_a_body_far_over_the_limit_is_answered_too(client: httpx.Client) -> None:
    answer = client.post("/v1/lookup", content=b"x" * 3_000_000, headers=JSON)
    problem(answer, 413, "BODY_TOO_LARGE")
    assert client.post("/v1/lookup", json=QUESTION).status_code == 200


def test_a_length_that_is_a_lie_is_refused_before_the_body(server: ThreadServer) -> None:
    head = b"POST /v1/lookup HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
    said = raw(server, head + b"Content-Length: 99999999999\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 413 ")


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(30)
        raise AssertionError("nobody waits so long")

    async def send(message: Message) -> None:
        sent.append(message)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("no app sees half a request")

    scope = {"type": "http", "method": "POST", "path": "/v1/lookup", "headers": []}
    asyncio.run(BodyLimit(app, MOST_BYTES, timeout_s=0.05)(scope, receive, send))
    assert sent[0]["status"] == 408
    assert json.loads(sent[1]["body"])["code"] == "REQUEST_INVALID"


def raw(server: ThreadServer, data: bytes) -> bytes:
    where = urlsplit(server.url)
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=20) as line:
        line.sendall(data)
        return line.recv(65_536)


@pytest.fixture
def narrow(tmp_path: Any) -> Home:
    return filled_home(tmp_path, **{"serve.concurrency": 1})


def test_over_the_limit_no_request_waits(narrow: Home) -> None:
    gate = Gate()
    with http_server(narrow.settings, gate.before_searches) as server, server.client() as client:
        gate.close()
        first = asked_beside(server, QUESTION)
        gate.wait_for_one()
        for path, body in (("/v1/lookup", QUESTION), ("/v1/memory", {"items": []})):
            answer = client.post(path, json=body)
            problem(answer, 503, "SERVER_BUSY")
            assert int(answer.headers["retry-after"]) >= 1
        problem(client.post("/mcp", json={}, headers=MCP_HEADERS), 503, "SERVER_BUSY")
        assert client.get("/healthz").status_code == 200
        assert client.get("/metrics").status_code == 200
        gate.open()
        assert first.result(30).status_code == 200
        assert client.post("/v1/lookup", json=QUESTION).status_code == 200


def test_each_token_has_a_rate_of_its_own(tmp_path: Any) -> None:
    tokens = [token("one"), token("other")]
    home = filled_home(tmp_path, **{"serve.tokens": tokens, "serve.requests-per-minute": 3})
    with http_server(home.settings) as server, server.client() as client:
        spent = [client.post("/v1/lookup", json=QUESTION, headers=bearer("one")) for _ in range(4)]
        assert [one.status_code for one in spent] == [200, 200, 200, 429]
        problem(spent[3], 429, "RATE_LIMITED")
        assert 1 <= int(spent[3].headers["retry-after"]) <= 20
        limited = client.post("/mcp", json={}, headers={**MCP_HEADERS, **bearer("one")})
        problem(limited, 429, "RATE_LIMITED")
        assert client.post("/v1/lookup", json=QUESTION, headers=bearer("other")).status_code == 200
        assert client.get("/metrics", headers=bearer("one")).status_code == 200


def test_guessing_a_token_is_held_to_a_rate_too(tmp_path: Any) -> None:
    limits = {"serve.tokens": [token("one")], "serve.requests-per-minute": 3}
    home = filled_home(tmp_path, **limits)
    with http_server(home.settings) as server, server.client() as client:
        guesses = [
            client.post("/v1/lookup", json=QUESTION, headers=bearer(f"guess-{number}"))
            for number in range(4)
        ]
        assert [one.status_code for one in guesses] == [401, 401, 401, 429]
        assert client.post("/v1/lookup", json=QUESTION, headers=bearer("one")).status_code == 200


@given(st.lists(st.floats(0, 10), max_size=60), st.integers(1, 100))
def test_a_bucket_never_gives_more_than_its_rate(pauses: list[float], per_minute: int) -> None:
    now = [0.0]
    buckets = Buckets(per_minute, lambda: now[0])
    given_out = 0
    for pause in pauses:
        now[0] += pause
        given_out += buckets.take("x") == 0
    assert given_out <= per_minute + now[0] * per_minute / 60 + 1e-6


@given(st.integers(1, 1_000))
def test_after_the_wait_that_it_names_a_bucket_gives(per_minute: int) -> None:
    now = [0.0]
    buckets = Buckets(per_minute, lambda: now[0])
    while not (wait_s := buckets.take("x")):
        pass
    assert buckets.take("y") == 0
    now[0] += wait_s
    assert buckets.take("x") == 0


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.2:80", "[::1]:99", "pincite.example.org",
     "pincite.example.org:443", "PINCITE.example.org."],
)  # fmt: skip
def test_own_names_are_answered(client: httpx.Client, host: str) -> None:
    assert client.get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "example.org",
     "evil.example:80@127.0.0.1", "127.0.0.1:80@evil.example", "10.0.0.1", "", "a b", "localhost:x",
     "xpincite.example.org", "[::2]", "localhost/..", "localhost?", "localhost#", "*"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/healthz", "/v1/cite/x", "/mcp", "/"])
def test_foreign_names_are_refused(client: httpx.Client, host: str, path: str) -> None:
    problem(client.get(path, headers={"host": host}), 421, "REQUEST_INVALID")


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://127.0.0.1.evil.example", "null", "http://127.0.0.1:1",
     "http://localhost:3000", "file://", "", "http://", "chrome-extension://abc"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/lookup", "/v1/memory", "/mcp"])
def test_foreign_origins_may_not_write(client: httpx.Client, origin: str, path: str) -> None:
    answer = client.post(path, json=QUESTION, headers={"origin": origin})
    problem(answer, 403, "ACCESS_DENIED")


def test_own_and_allowed_origins_may(client: httpx.Client, server: ThreadServer) -> None:
    for origin in (server.url, "https://pincite.example.org"):
        answer = client.post("/v1/lookup", json=QUESTION, headers={"origin": origin})
        assert answer.status_code == 200
    ports = {"host": "localhost:80", "origin": "http://localhost"}
    assert client.post("/v1/lookup", json=QUESTION, headers=ports).status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/", "/nope", "/v1/cite/x", "/openapi.json"])
def test_every_answer_has_the_headers_that_browsers_need(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "server" not in headers


def test_refusals_have_them_too(client: httpx.Client) -> None:
    answer = client.get("/healthz", headers={"host": "evil.example"})
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


@given(st.text(max_size=40))
def test_any_host_header_is_taken_apart(host: str) -> None:
    name, _ = split_host(host)
    assert name == name.lower()
    assert "@" not in name
    assert is_loopback(name) in (True, False)
