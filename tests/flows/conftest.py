"""One real Prefect server for the session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pincite.settings import Settings, load_settings
from pincite.testing.prefect_server import prefect_server
from pincite.wiring import open_workspace


@pytest.fixture(scope="session")
def prefect_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prefect API with a database of its own."""
    with prefect_server(tmp_path_factory.mktemp("prefect")) as api:
        yield api
        _flush_logs()


def _flush_logs() -> None:
    """Prefect sends logs from a thread, and waits long for a server that is gone."""
    from prefect.logging.handlers import APILogHandler

    APILogHandler().flush()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    given = {
        "home": tmp_path / "home",
        "embedder.provider": "hash",
        "store.uri": f"memory://{tmp_path}",
        # A busy machine must not make a lookup miss its deadline.
        "rag.retrieve.timeout-ms": 60_000,
    }
    return load_settings(given, folder=tmp_path, environment={})


@pytest.fixture
def run_flow(prefect_api: str, settings: Settings) -> Any:
    """Runs an asynchronous call inside a workspace, with the session's Prefect server."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    def run(work: Any) -> Any:
        async def inside() -> Any:
            async with open_workspace(settings) as workspace:
                return await work(workspace)

        with temporary_settings({PREFECT_API_URL: prefect_api}):
            return asyncio.run(inside())

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a good document, an empty one and one that cannot be read."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "good.md").write_text("# Good\n\nA page about lighthouses.\n", "utf-8")
    (notes / "empty.md").write_text("---\ntitle: Empty\n---\n", "utf-8")
    (notes / "bad.md").write_bytes(b"caf\xe9")
    return notes
