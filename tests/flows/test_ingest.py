"""The ingest flow on a real Prefect server."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest

from pincite.errors import IdentityConflict, StoreUnreachable
from pincite.flows.ingest import STEPS, ingest, run_ingest
from pincite.tasks import store
from pincite.writing.ingest import ingest as sync
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

VOLATILE = ("run_id", "flow_run_id", "duration_ms")


def request(folder, **given):
    return IngestRequest((str(folder),), **given)


def stable(receipt):
    return {k: v for k, v in receipt.as_dict().items() if k not in VOLATILE}


@pytest.fixture
def flow_run(run_flow, folder, recorded):
    async def work(_):
        receipt = await run_ingest(request(folder))
        return receipt, await recorded(receipt.flow_run_id, "publish")

    return run_flow(work)


def test_run_is_seen_with_its_name_and_its_tasks(flow_run):
    _receipt, (run, tasks, _artifacts) = flow_run
    assert run.name == "ingest docs @ notes"
    assert run.state_name == "Completed"
    names = {task.name for task in tasks}
    assert {"discover files for docs", "read 3 files", "compare 2 documents"} <= names
    assert {"chunk 2 documents", "journal 2 documents", "embed 1 chunks", "check 1 rows"} <= names
    assert {"upsert 1 rows", "read back 1 rows", "stamp 2 documents"} <= names


def test_run_ends_with_receipt_quality_and_failures_as_artifacts(flow_run):
    receipt, (_run, _tasks, artifacts) = flow_run
    assert set(artifacts) == {
        "ingest-docs-receipt",
        "ingest-docs-quality",
        "ingest-docs-failures",
    }
    assert receipt.run_id in artifacts["ingest-docs-receipt"].data
    assert "ENCODING_UNSUPPORTED" in artifacts["ingest-docs-failures"].data
    assert "evidence_key_unique" in artifacts["ingest-docs-quality"].data


def test_flow_and_direct_mode_give_the_same_receipt_and_rows(run_flow, folder, settings, tmp_path):
    async def by_flow(workspace):
        return await run_ingest(request(folder)), await rows(workspace)

    async def directly(workspace):
        return await sync(request(folder), DIRECT), await rows(workspace)

    flow_receipt, flow_rows = run_flow(by_flow)
    plain_receipt, plain_rows = _elsewhere(settings, tmp_path, directly)
    assert stable(flow_receipt) == {**stable(plain_receipt)}
    assert flow_rows == plain_rows


def _elsewhere(settings, tmp_path: Path, work):
    from pincite.wiring import open_workspace

    store_settings = settings.store.model_copy(update={"uri": f"memory://{tmp_path}-direct"})
    other = settings.model_copy(update={"home": tmp_path / "direct", "store": store_settings})

    async def inside():
        async with open_workspace(other) as workspace:
            return await work(workspace)

    return asyncio.run(inside())


async def rows(workspace):
    live = workspace.catalog.generations.require_live("docs")
    found = []
    columns = ["doc_id", "doc_version", "content", "content_sha256", "embedding"]
    async for page in workspace.store.scan(live.collection, None, columns):
        found += page.to_pylist()
    return sorted(found, key=lambda row: row["vector_id"])


def test_run_that_ends_with_an_error_after_its_writes_is_failed_and_keeps_its_receipt(
    run_flow, folder, recorded
):
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text(f"---\ndoc_id: same\n---\n{name}\n", "utf-8")

    async def work(_):
        receipt = await run_ingest(request(folder))
        return receipt, await recorded(receipt.flow_run_id, "publish")

    receipt, (run, _tasks, artifacts) = run_flow(work)
    assert isinstance(receipt.error, IdentityConflict)
    assert receipt.documents["added"] == 2
    assert run.state_name == "Failed"
    assert "IDENTITY_CONFLICT" in run.state.message
    assert "IDENTITY_CONFLICT" in artifacts["ingest-docs-receipt"].data


def test_store_that_fails_twice_is_tried_again(run_flow, folder, monkeypatch):
    tries = []
    real = store.engine.upsert

    async def upsert(target, table):
        tries.append(table.num_rows)
        if len(tries) < 3:
            raise StoreUnreachable("Away for a moment.")
        return await real(target, table)

    monkeypatch.setattr(store.engine, "upsert", upsert)
    monkeypatch.setattr(store.upsert, "retry_delay_seconds", 0)
    receipt = run_flow(lambda _: run_ingest(request(folder)))
    assert len(tries) == 3
    assert receipt.documents["added"] == 1


def test_error_that_is_not_transient_is_not_tried_again(run_flow, folder, monkeypatch):
    tries = []

    async def upsert(target, table):
        tries.append(table.num_rows)
        raise ValueError("a fault of ours")

    monkeypatch.setattr(store.engine, "upsert", upsert)
    with pytest.raises(ValueError, match="a fault of ours"):
        run_flow(lambda _: run_ingest(request(folder)))
    assert len(tries) == 1


def test_flow_takes_values_only():
    kinds = {name: str(p.annotation) for name, p in inspect.signature(ingest.fn).parameters.items()}
    assert set(kinds) == {"paths", "corpus", "source", "kb_scope", "category", "prune"}
    assert not any("Table" in kind for kind in kinds.values())


def test_no_task_caches_or_persists():
    tasks = [STEPS.discover, STEPS.read, *vars(STEPS.write).values()]
    for task in tasks:
        assert task.cache_policy.__class__.__name__ == "_None", task.name
        assert task.persist_result is False, task.name
