"""The store suites on every store: memory, Milvus Lite, a Lite server and a real server."""

from __future__ import annotations

import pytest

from pincite.store.memory import MemoryStore
from pincite.store.milvus import MilvusStore
from pincite.testing.store_suite import (
    DenseOnlySuite,
    GenerationStoreSuite,
    OpenStore,
    RemoteStoreSuite,
    TextSuite,
    VectorStoreSuite,
)


@pytest.fixture(scope="module")
def lite_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("lite") / "store.db")


class TestMemory(VectorStoreSuite, TextSuite, GenerationStoreSuite):
    @pytest.fixture
    def open_store(self) -> OpenStore:
        store = MemoryStore()
        return lambda: store


class TestMemoryWithoutFullText(VectorStoreSuite, DenseOnlySuite, GenerationStoreSuite):
    @pytest.fixture
    def open_store(self) -> OpenStore:
        store = MemoryStore(full_text=False)
        return lambda: store


class TestLite(VectorStoreSuite, TextSuite, GenerationStoreSuite, RemoteStoreSuite):
    @pytest.fixture
    def open_store(self, lite_folder: str) -> OpenStore:
        return lambda: MilvusStore(lite_folder)


class TestLiteServer(VectorStoreSuite, TextSuite, GenerationStoreSuite, RemoteStoreSuite):
    @pytest.fixture
    def open_store(self, lite_server_uri: str) -> OpenStore:
        return lambda: MilvusStore(lite_server_uri)


class TestServer(VectorStoreSuite, DenseOnlySuite, GenerationStoreSuite, RemoteStoreSuite):
    @pytest.fixture
    def open_store(self, milvus_server_uri: str) -> OpenStore:
        return lambda: MilvusStore(milvus_server_uri)
