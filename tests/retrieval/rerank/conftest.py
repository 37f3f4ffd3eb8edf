"""The adapters that ask an endpoint, each in the shape that it speaks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pincite.embedding.retrying import RetryPolicy
from pincite.retrieval.rerank.config import RerankerConfig
from pincite.retrieval.rerank.http import HttpReranker
from pincite.retrieval.rerank.openai import OpenAIReranker
from pincite.retrieval.rerank.port import Reranker
from pincite.testing.rerank_endpoint import RerankEndpoint

FAST = RetryPolicy(attempts=3, first_wait_s=0.001, longest_wait_s=0.01)
KEY = "sk-very-secret"

Connect = Callable[[RerankEndpoint], Reranker]


def _http(api: str) -> Connect:
    def connect(endpoint: RerankEndpoint) -> Reranker:
        config = RerankerConfig("http", "scripted", endpoint.url, KEY, api)
        return HttpReranker(config, FAST)

    return connect


def _openai(endpoint: RerankEndpoint) -> Reranker:
    return OpenAIReranker(RerankerConfig("openai", "scripted", endpoint.openai_url, KEY), FAST)


ADAPTERS = {
    "cohere": _http("cohere"),
    "tei": _http("tei"),
    "openai": _openai,
}


@pytest.fixture(params=list(ADAPTERS))
def connect(request: pytest.FixtureRequest) -> Connect:
    """Makes the reranker of one adapter for an endpoint."""
    return ADAPTERS[request.param]
