"""Every pipeline run is kept on record in the catalogue, also one that fails."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pincite.catalog.activity import Run
from pincite.catalog.database import now_ms
from pincite.errors import PinciteError
from pincite.wiring import Workspace
from pincite.writing.receipt import Receipt

logger = logging.getLogger(__name__)

COMPLETED = "COMPLETED"
WITH_FAILURES = "WITH_FAILURES"
FAILED = "FAILED"


@dataclass
class Recording:
    """A run under way; its ``receipt`` is set when it ends."""

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    started_at: int = field(default_factory=now_ms)
    started: float = field(default_factory=time.monotonic)
    receipt: Receipt | None = None

    def elapsed_ms(self) -> int:
        return round((time.monotonic() - self.started) * 1000)


@asynccontextmanager
async def recorded(
    workspace: Workspace, action: str, corpus: str, flow_run_id: str | None
) -> AsyncIterator[Recording]:
    """Keep the run of the block on record."""
    run = Recording()
    try:
        yield run
    except PinciteError as error:
        await _keep(workspace, run, action, corpus, flow_run_id, error)
        raise
    await _keep(workspace, run, action, corpus, flow_run_id, None)


async def _keep(
    workspace: Workspace,
    run: Recording,
    action: str,
    corpus: str,
    flow_run_id: str | None,
    error: PinciteError | None,
) -> None:
    receipt = run.receipt.as_dict() if run.receipt else {}
    if error is not None:
        receipt["error"] = error.as_dict()
    state = FAILED if error or (run.receipt and run.receipt.error) else COMPLETED
    if state == COMPLETED and run.receipt and run.receipt.failures:
        state = WITH_FAILURES
    line = Run(
        run_id=run.id,
        corpus=corpus,
        action=action,
        flow_run_id=flow_run_id or "",
        state=state,
        receipt=_bounded(receipt),
        started_at=run.started_at,
        finished_at=now_ms(),
    )
    _log(line)
    try:
        await asyncio.to_thread(workspace.catalog.activity.record_run, line)
    except PinciteError as failed:
        # The run itself is done; that nobody can look it up later must not undo it.
        logger.warning("run not recorded", extra={"code": failed.code, "run_id": run.id})


def _log(run: Run) -> None:
    """One line with counts; ids and codes only, never texts."""
    documents = run.receipt.get("documents")
    counts = ", ".join(f"{n} {name}" for name, n in documents.items() if n) if documents else ""
    logger.info(
        "%s of %s ended %s: %s",
        run.action,
        run.corpus,
        run.state.lower(),
        counts or "nothing done",
        extra={
            "trace_id": run.run_id,
            "corpus": run.corpus,
            "action": run.action,
            "fallback_reason": None,
            "latency_ms": run.finished_at - run.started_at,
            "hit_count": None,
        },
    )


def _bounded(receipt: dict[str, object], entries: int = 100) -> dict[str, object]:
    """A receipt whose lists are cut: the catalogue keeps runs in bounded space."""
    return {k: v[:entries] if isinstance(v, list) else v for k, v in receipt.items()}
