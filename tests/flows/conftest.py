"""One real Prefect server for the session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

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


class Recorded(NamedTuple):
    """A flow run as the server has it: itself, its task runs, its artifacts by key."""

    run: Any
    tasks: list[Any]
    artifacts: dict[str, Any]


@pytest.fixture(scope="session")
def recorded() -> Any:
    """Reads a run that is over, by its id or by its name, once its last task has arrived."""
    return _recorded


async def _recorded(flow_run_id: str | None, last_task: str, name: str = "") -> Recorded:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import (
        ArtifactFilter,
        ArtifactFilterFlowRunId,
        FlowRunFilter,
        FlowRunFilterId,
        FlowRunFilterName,
    )

    by_id = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run_id])) if flow_run_id else None
    only = by_id or FlowRunFilter(name=FlowRunFilterName(any_=[name]))
    async with get_client() as client:
        (run,) = await client.read_flow_runs(flow_run_filter=only)
        of_run = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run.id]))
        artifacts = await client.read_artifacts(artifact_filter=of_run)
        # Task runs reach the server through a queue of events.
        for _ in range(50):
            tasks = await client.read_task_runs(flow_run_filter=only)
            if any(task.name.startswith(last_task) and task.end_time for task in tasks):
                break
            await asyncio.sleep(0.2)
    return Recorded(run, tasks, {artifact.key: artifact for artifact in artifacts})
