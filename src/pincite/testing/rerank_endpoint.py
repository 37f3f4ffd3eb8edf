"""A real HTTP server that reranks in each shape, and misbehaves on demand.

    with RerankEndpoint(failing(429, {"retry-after": "0.01"})) as endpoint:
        reranker = HttpReranker(RerankerConfig("http", base_url=endpoint.url))

It speaks Cohere's shape (also Jina's and vLLM's), that of text-embeddings-inference (TEI), and
chat completions that answer ``OpenAIReranker``; the request tells which. Each request takes the
next behaviour; when none is left, the endpoint behaves well and scores by the cosine of the hash
embedder, so that a passage with the words of the query comes first.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pincite.embedding.hash import HashEmbedder
from pincite.testing import embedding_endpoint
from pincite.testing.embedding_endpoint import (
    Behaviour,
    Call,
    EmbeddingEndpoint,
    Reply,
    failing,
    hanging_up,
    saying,
)

__all__ = [
    "Asked",
    "Behaviour",
    "Call",
    "Reply",
    "RerankEndpoint",
    "Rows",
    "answering",
    "asked",
    "chatting",
    "failing",
    "hanging_up",
    "saying",
    "slow",
    "tampering",
]

Rows = list[dict[str, Any]]

CHAT = "/v1/chat/completions"
PATHS = ("/rerank", "/v1/rerank", "/v2/rerank", CHAT)
BEST = 100


@dataclass(frozen=True)
class Asked:
    """What a request asks, whatever its shape."""

    query: str
    texts: tuple[str, ...]


def asked(call: Call) -> Asked:
    """The query and the passages of a request, in order."""
    if call.path == CHAT:
        data = json.loads(call.body["messages"][-1]["content"])
        return Asked(data["query"], tuple(passage["text"] for passage in data["passages"]))
    return Asked(call.body["query"], tuple(call.body.get("texts") or call.body["documents"]))


def answering(call: Call) -> Reply:
    """The right answer: a score for each passage, best first."""
    return _reply(call, _rows(call))


def tampering(change: Callable[[Rows], Rows]) -> Behaviour:
    """The right answer after ``change`` was let at its rows ``{index, score}``, best first."""
    return lambda call: _reply(call, change(_rows(call)))


def slow(seconds: float, then: Behaviour = answering) -> Behaviour:
    """Wait, then answer."""
    return embedding_endpoint.slow(seconds, then)


def chatting(content: str | None) -> Behaviour:
    """A chat completion whose message has this content."""
    return lambda call: _chat(content)


class RerankEndpoint(EmbeddingEndpoint):
    """A context manager; listens on a free port of 127.0.0.1.

    A path that no reranker has is 404, whatever the script says.

    Args:
        script: Behaviours for the first requests, one each.
        otherwise: Behaviour of every later request.
    """

    def __init__(self, *script: Behaviour, otherwise: Behaviour = answering) -> None:
        super().__init__(*script, otherwise=otherwise)

    @property
    def url(self) -> str:
        """Base URL for ``http``."""
        return super().url.removesuffix("/v1")

    @property
    def openai_url(self) -> str:
        """Base URL for ``openai``."""
        return super().url

    def reply(self, call: Call) -> Reply:
        """Note the call and let the next behaviour answer it."""
        if call.path in PATHS:
            return super().reply(call)
        self.calls.append(call)
        return Reply(404)

    def __enter__(self) -> RerankEndpoint:
        super().__enter__()
        # Connections inherit it: an answer is not held back until its header is acknowledged.
        self._server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self


def _rows(call: Call) -> Rows:
    question = asked(call)
    vectors = HashEmbedder().vectors([question.query, *question.texts])
    scores = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0).tolist()
    rows = [{"index": index, "score": score} for index, score in enumerate(scores)]
    return sorted(rows, key=lambda row: -row["score"])


def _reply(call: Call, rows: Rows) -> Reply:
    if call.path == CHAT:
        return _chat(json.dumps({"ranking": [_judged(row) for row in rows]}))
    if "texts" in call.body:
        return _json(rows)
    results = [_renamed(row, "relevance_score", row.get("score")) for row in rows]
    return _json({"id": "scripted", "results": results})


def _judged(row: dict[str, Any]) -> dict[str, Any]:
    """The row as a chat model judges: from 0 to 100."""
    score = row.get("score")
    return _renamed(row, "score", BEST * score if isinstance(score, float) else score)


def _renamed(row: dict[str, Any], name: str, score: Any) -> dict[str, Any]:
    rest = {key: value for key, value in row.items() if key != "score"}
    return {**rest, name: score} if "score" in row else rest


def _chat(content: str | None) -> Reply:
    message = {"role": "assistant", "content": content, "refusal": None}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return _json({"id": "scripted", "object": "chat.completion", "choices": [choice]})


def _json(content: Any) -> Reply:
    return Reply(body=json.dumps(content).encode(), headers={"content-type": "application/json"})
