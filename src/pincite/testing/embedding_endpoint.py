"""A real HTTP server that speaks ``/v1/embeddings`` and misbehaves on demand.

    with EmbeddingEndpoint(failing(429, {"retry-after": "0.01"})) as endpoint:
        embedder = OpenAIEmbedder(EmbedderConfig(base_url=endpoint.url, dim=endpoint.dim))

Each request takes the next behaviour; when none is left, the endpoint behaves well and answers
with the vectors of the hash embedder.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from pincite.embedding.hash import DIM, HashEmbedder

Items = list[dict[str, Any]]


@dataclass(frozen=True)
class Call:
    """One request as the endpoint saw it; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def texts(self) -> list[str]:
        """The texts to embed."""
        return list(self.body["input"])


@dataclass(frozen=True)
class Reply:
    """What the endpoint sends back; ``None`` as body closes the connection without a word."""

    status: int = 200
    body: bytes | None = b""
    headers: Mapping[str, str] = field(default_factory=dict)


Behaviour = Callable[[Call], Reply]


def answering(call: Call) -> Reply:
    """The right answer."""
    return _json_reply({"data": _items(call)})


def failing(status: int, headers: Mapping[str, str] | None = None, **error: Any) -> Behaviour:
    """An error response; ``error`` becomes its ``error`` object (``code``, ``param``)."""
    content = {"error": {"message": "scripted failure", **error}}
    return lambda call: _json_reply(content, status, headers or {})


def slow(seconds: float, then: Behaviour = answering) -> Behaviour:
    """Wait, then answer."""

    def behave(call: Call) -> Reply:
        time.sleep(seconds)
        return then(call)

    return behave


def tampering(change: Callable[[Items], Items]) -> Behaviour:
    """The right answer after ``change`` was let at its items ``{index, embedding, object}``."""
    return lambda call: _json_reply({"data": change(_items(call))})


def refusing(poison: str, status: int = 400, then: Behaviour = answering) -> Behaviour:
    """An error for any request with a text that holds ``poison``."""
    refuse = failing(status)
    return lambda call: refuse(call) if any(poison in t for t in call.texts) else then(call)


def hanging_up(call: Call) -> Reply:
    """Close the connection without an answer."""
    return Reply(body=None)


def saying(body: bytes) -> Behaviour:
    """Status 200 with this body."""
    return lambda call: Reply(body=body, headers={"content-type": "application/json"})


class EmbeddingEndpoint:
    """A context manager; listens on a free port of 127.0.0.1.

    Args:
        script: Behaviours for the first requests, one each.
        otherwise: Behaviour of every later request.
    """

    dim = DIM

    def __init__(self, *script: Behaviour, otherwise: Behaviour = answering) -> None:
        self._script = list(script)
        self._otherwise = otherwise
        self._lock = threading.Lock()
        self.calls: list[Call] = []

    @property
    def url(self) -> str:
        """Base URL for a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def reply(self, call: Call) -> Reply:
        """Note the call and let the next behaviour answer it."""
        with self._lock:
            self.calls.append(call)
            behave = self._script.pop(0) if self._script else self._otherwise
        return behave(call)

    def __enter__(self) -> EmbeddingEndpoint:
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A client that keeps its connection open must not hold up the end of a test.
    block_on_close = False


def _handler(endpoint: EmbeddingEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._send(endpoint.reply(Call(self.path, headers, json.loads(raw))))

        def _send(self, reply: Reply) -> None:
            self.close_connection = reply.body is None
            if reply.body is None:
                return
            self.send_response(reply.status)
            for name, value in {**reply.headers, "content-length": str(len(reply.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionError:
                self.close_connection = True  # the client gave up, as it may

        def log_message(self, format: str, *args: Any) -> None:
            """Stay silent."""

    return Handler


def _items(call: Call) -> Items:
    rows = HashEmbedder().vectors(call.texts)
    return [
        {"object": "embedding", "index": index, "embedding": [float(value) for value in row]}
        for index, row in enumerate(rows)
    ]


def _json_reply(
    content: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Reply:
    body = json.dumps({"object": "list", "model": "scripted", **content}).encode()
    return Reply(status, body, {"content-type": "application/json", **(headers or {})})
