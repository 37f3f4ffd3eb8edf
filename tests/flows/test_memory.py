"""Memory in flows: ingest, maintain, and both paths of a lookup, on a real Prefect server."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from pincite.errors import CorpusBusy, StoreUnreachable
from pincite.flows.ingest import run_ingest
from pincite.flows.maintain import run_maintain
from pincite.flows.retrieve import retrieve
from pincite.settings import Settings, load_settings
from pincite.testing.faults import put, raising
from pincite.testing.memory_items import OWNER, from_now, item, let_expire
from pincite.wiring import Workspace
from pincite.writing.online import write_items
from pincite.writing.receipt import Receipt
from pincite.writing.request import IngestRequest
from pincite.writing.target import open_target

MINE = {"corpus": "memory", **OWNER}


@pytest.fixture
def rollout() -> str:
    return "on"


@pytest.fixture
def settings(tmp_path: Path, rollout: str) -> Settings:
    given = {
        "home": tmp_path / "home",
        "embedder.provider": "hash",
        "store.uri": f"memory://{tmp_path}",
        "rag.retrieve.timeout-ms": 60_000,
        "memory.write-timeout-ms": 60_000,
        "memory.rag.rollout": rollout,
    }
    return load_settings(given, folder=tmp_path, environment={})


def test_items_of_a_file_are_ingested_as_a_flow(
    run_flow: Any, recorded: Any, tmp_path: Path
) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(json.dumps(item(f"tea number {n}")) for n in range(5)))

    async def work(_: Workspace) -> Any:
        receipt = await run_ingest(IngestRequest((str(path),), corpus="memory"))
        return receipt, await recorded(receipt.flow_run_id, "publish the receipt")

    receipt, seen = run_flow(work)
    assert (receipt.documents["added"], receipt.failures) == (5, ())
    assert seen.run.name == "ingest memory @ items.jsonl"
    assert {"ingest-memory-receipt", "ingest-memory-quality"} <= seen.artifacts.keys()
    rules = json.loads(seen.artifacts["ingest-memory-quality"].data)
    assert {rule["rule"]: rule["failed"] for rule in rules}["owner_fits_corpus"] == 0


def test_maintain_writes_what_waits_deletes_what_is_gone_and_tells_the_figures(
    run_flow: Any, recorded: Any
) -> None:
    async def work(workspace: Workspace) -> Any:
        whole = workspace.store
        workspace.store = put(whole, "upsert", raising(StoreUnreachable("Gone.")))
        await write_items("memory", [item("waits")])
        workspace.store = whole
        await write_items("memory", [item("gone soon", id="soon", ttl_at=from_now(hours=1))])
        let_expire(workspace.settings.home, "soon")
        done = await run_maintain([])
        receipt = done.corpora["memory"]
        assert isinstance(receipt, Receipt)
        return (
            receipt,
            workspace.catalog.items["memory"].counts(),
            await recorded(receipt.flow_run_id, "publish the figures"),
        )

    receipt, counts, seen = run_flow(work)
    assert receipt.documents["deleted"] == 1
    assert counts == {"INDEXED": 1}
    assert seen.run.name == "maintain all corpora"
    assert {"maintain-memory-receipt", "figures-memory"} <= seen.artifacts.keys()


def test_a_busy_corpus_ends_the_run_as_failed_with_its_code(run_flow: Any) -> None:
    async def work(workspace: Workspace) -> Any:
        await write_items("memory", [item("tea")])
        async with open_target(workspace, "memory"):
            return await run_maintain(["memory"])

    assert isinstance(run_flow(work).corpora["memory"], CorpusBusy)


@pytest.mark.parametrize(
    ("rollout", "attempt", "shadows"),
    [("on", "UNFILTERED_VECTOR", 0), ("off", "LEGACY", 0), ("shadow", "LEGACY", 1)],
)
def test_a_lookup_takes_the_path_of_its_roll_out(
    run_flow: Any, recorded: Any, attempt: str, shadows: int
) -> None:
    async def work(workspace: Workspace) -> Any:
        await write_items("memory", [item("green tea")])
        name = f"look {uuid.uuid4().hex}"
        found = await retrieve.with_options(flow_run_name=name)("tea", **MINE)
        run = await recorded(None, "record the lookup", name=name)
        return found, [task.name for task in run.tasks], workspace.catalog.shadows.lines("memory")

    found, tasks, lines = run_flow(work)
    assert found["retrievalTrace"]["selectedAttempt"] == attempt
    assert [block["content"] for block in found["context"]["blocks"]] == ["green tea"]
    assert any(name.startswith(f"search memory {attempt}") for name in tasks)
    assert [line.overlap for line in lines] == [1.0] * shadows
