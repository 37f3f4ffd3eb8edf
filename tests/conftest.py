"""Services that tests share: one real Milvus server and one Milvus Lite server per session."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pincite.testing.lite_server import lite_server
from pincite.testing.milvus_server import MilvusServer, milvus_server, unavailable_reason

_lite_folders = itertools.count(1)


@pytest.fixture(scope="session")
def shared_milvus_server() -> Iterator[MilvusServer]:
    """A real Milvus server; skips where it cannot run, unless it is required."""
    reason = unavailable_reason()
    if reason and os.environ.get("PINCITE_TEST_REQUIRE_SERVICES") != "1":
        pytest.skip(reason)
    with milvus_server() as server:
        yield server


@pytest.fixture(scope="session")
def milvus_server_uri(shared_milvus_server: MilvusServer) -> str:
    """The address of the real Milvus server."""
    return shared_milvus_server.uri


@pytest.fixture(scope="session")
def lite_server_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Milvus Lite server in a process of its own."""
    with lite_server(tmp_path_factory.mktemp("lite-server")) as uri:
        yield uri


@pytest.fixture
def lite_path(tmp_path: Path) -> str:
    """A folder for Milvus Lite that nothing has opened: its engine outlives the store."""
    return str(tmp_path / f"lite-{next(_lite_folders)}.db")
