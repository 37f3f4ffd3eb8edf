"""Every reranker passes the suite that ships with the port."""

from collections.abc import Iterator

import pytest

from pincite.retrieval.rerank.config import RerankerConfig
from pincite.retrieval.rerank.port import Reranker
from pincite.retrieval.rerank.registry import make_reranker
from pincite.testing.rerank_endpoint import RerankEndpoint
from pincite.testing.reranker_suite import RerankerConformance


class OfEndpoint(RerankerConformance):
    api = ""

    @pytest.fixture
    def reranker(self) -> Iterator[Reranker | None]:
        with RerankEndpoint() as endpoint:
            yield make_reranker(RerankerConfig("http", "m", endpoint.url, api=self.api))


class TestCohere(OfEndpoint):
    api = "cohere"


class TestVllm(OfEndpoint):
    api = "vllm"


class TestTei(OfEndpoint):
    api = "tei"


class TestOpenAI(RerankerConformance):
    @pytest.fixture
    def reranker(self) -> Iterator[Reranker | None]:
        with RerankEndpoint() as endpoint:
            yield make_reranker(RerankerConfig("openai", "m", endpoint.openai_url))


class TestBlend(RerankerConformance):
    @pytest.fixture
    def reranker(self) -> Reranker | None:
        return make_reranker(RerankerConfig("blend"))
