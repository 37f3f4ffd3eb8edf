"""Maintain: what a corpus needs from time to time, whoever writes and asks.

per corpus: recover → remove what has expired → drain what waits → flush; then trim the ledger
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pincite.catalog.database import now_ms
from pincite.catalog.retention import Trimmed
from pincite.errors import PinciteError, RequestInvalid
from pincite.scopes import EXPIRING
from pincite.wiring import current_workspace
from pincite.writing.items import Settling
from pincite.writing.receipt import Receipt, Tally
from pincite.writing.record import recorded
from pincite.writing.steps import WriteSteps
from pincite.writing.target import Target, open_target
from pincite.writing.upkeep import drain, recover, remove

DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class Maintained:
    """The receipt of each corpus, or the error in its place, and what the ledger forgot."""

    corpora: Mapping[str, Receipt | PinciteError]
    trimmed: Trimmed = field(default_factory=Trimmed)

    @property
    def ok(self) -> bool:
        return all(isinstance(one, Receipt) and one.ok for one in self.corpora.values())

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        shown = {name: _shown(one) for name, one in self.corpora.items()}
        return {"corpora": shown, "trimmed": self.trimmed.as_dict()}


def _shown(one: Receipt | PinciteError) -> dict[str, Any]:
    return one.as_dict() if isinstance(one, Receipt) else {"error": one.as_dict()}


async def trim() -> Trimmed:
    """Forget what was superseded or removed longer ago than the ledger is to remember."""
    workspace = current_workspace()
    before = now_ms() - workspace.settings.ledger.retention_days * DAY_MS
    return await asyncio.to_thread(workspace.catalog.trim, before)


@dataclass(frozen=True)
class MaintainSteps:
    """What maintain is made of: the steps of the write pipeline, and one of its own."""

    write: WriteSteps = field(default_factory=WriteSteps)
    trim: Callable[[], Awaitable[Trimmed]] = trim


async def maintain(
    corpora: Sequence[str], steps: MaintainSteps, flow_run_id: str | None = None
) -> Maintained:
    """Bring corpora of items into order; one that cannot be now does not keep the others.

    Then the ledger of every corpus forgets what it need not remember.

    Args:
        corpora: Their names; none = every one that has items.
        steps: The steps.
        flow_run_id: The flow run that this is, if it is one.

    Raises:
        RequestInvalid: A corpus has no items.
    """
    names = corpora or await asyncio.to_thread(_with_items)
    for name in names:
        if name not in EXPIRING:
            raise RequestInvalid(f"Corpus {name!r} has no items that expire or wait.")
    done = {name: await _maintained(name, steps.write, flow_run_id) for name in names}
    return Maintained(done, await steps.trim())


def _with_items() -> list[str]:
    catalog = current_workspace().catalog
    live = set(catalog.generations.corpora())
    return [name for name in sorted(EXPIRING) if name in live or catalog.items[name].counts()]


async def _maintained(
    corpus: str, steps: WriteSteps, flow_run_id: str | None
) -> Receipt | PinciteError:
    """One corpus; the run is kept on record."""
    tally = Tally()
    try:
        async with recorded(current_workspace(), "maintain", corpus, flow_run_id) as run:
            await _maintain(corpus, steps, tally)
            run.receipt = tally.receipt(run.id, corpus, "", run.elapsed_ms())
    except PinciteError as error:
        return error
    return replace(run.receipt, flow_run_id=flow_run_id)


async def _maintain(corpus: str, steps: WriteSteps, tally: Tally) -> None:
    workspace = current_workspace()
    async with open_target(workspace, corpus) as target:
        target = await recover(steps, target, tally)
        await _remove_expired(steps, target, tally)
        await drain(steps, target, Settling(workspace, corpus), tally)
        if tally.chunks["written"] or tally.chunks["deleted"]:
            await steps.flush(target)


async def _remove_expired(steps: WriteSteps, target: Target, tally: Tally) -> None:
    """Delete expired items from the store and then from their table, batch by batch.

    In this order a run that is killed in between finds them again.
    """
    workspace = current_workspace()
    items = workspace.catalog.items[target.corpus]
    size = workspace.settings.rag.ingest.batch_documents
    skipped: set[str] = set()
    while True:
        expired = await asyncio.to_thread(items.expired, size + len(skipped))
        ready = [doc_id for doc_id in expired if doc_id not in skipped][:size]
        if not ready:
            return
        busy = await remove(steps, target, ready, tally)
        skipped |= busy
        gone = [doc_id for doc_id in ready if doc_id not in busy]
        await asyncio.to_thread(items.remove_expired, gone)
