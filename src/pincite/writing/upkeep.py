"""What every run does besides its own work: put right what others left, write what waits."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from pincite.corpora.port import Item, ItemCorpus
from pincite.schemas.notices import NOTICES, warning
from pincite.wiring import current_workspace
from pincite.writing.items import Settling, documents_of, pending_items
from pincite.writing.pipeline import write_batch
from pincite.writing.receipt import Tally
from pincite.writing.recover import in_parts
from pincite.writing.steps import WriteSteps
from pincite.writing.tables import Restored, failed_ids
from pincite.writing.target import Target


async def recover(steps: WriteSteps, target: Target, tally: Tally) -> Target:
    """Put right what a writer left half done and this run did not read again.

    What cannot be finished is taken back, so that no reader sees a version that is not stamped.
    Returns the target without the documents that are settled now.
    """
    finished = await _again(steps, target, await steps.restore(target), tally)
    tally.add_notices(_told(finished, "RECOVERED", "was left half written; it is whole again"))
    taken_back = await _again(steps, target, await steps.roll_back(target), tally)
    tally.add_notices(_told(taken_back, "ROLLED_BACK", "could not be finished; it is as it was"))
    return replace(target, dirty=target.dirty - {*finished, *taken_back})


async def _again(steps: WriteSteps, target: Target, left: Restored, tally: Tally) -> list[str]:
    """Write and remove what was left open; returns the documents that are settled now."""
    tally.add_notices(left.notices)
    await remove(steps, target, left.removals, tally, counted=False)
    settled = list(left.removals)
    target = replace(target, dirty=target.dirty | set(left.documents["doc_id"].to_pylist()))
    for part in in_parts(left.documents, current_workspace().settings.rag.ingest.batch_documents):
        written = await write_batch(steps, target, part)
        tally.add(written, counted=False)
        failed = failed_ids(*written.notices)
        settled += [doc_id for doc_id in part["doc_id"].to_pylist() if doc_id not in failed]
    return settled


def _told(doc_ids: list[str], code: str, what: str) -> pa.Table:
    return NOTICES.from_rows(warning(d, d, code, f"The document {what}.") for d in doc_ids)


async def drain(steps: WriteSteps, target: Target, items: Settling, tally: Tally) -> None:
    """Write the items that wait, each once; what cannot be written now goes on waiting."""
    workspace = current_workspace()
    adapter = workspace.corpora[target.corpus]
    assert isinstance(adapter, ItemCorpus)
    size, tried = workspace.settings.rag.ingest.batch_documents, set[str]()
    while True:
        limit = size + len(tried)
        waiting = await asyncio.to_thread(pending_items, workspace, target.corpus, limit)
        fresh = [item for item in waiting if item.row["doc_id"] not in tried][:size]
        if not fresh:
            return
        tried.update(item.row["doc_id"] for item in fresh)
        await write_waiting(steps, target, adapter, fresh, items, tally)


async def write_waiting(
    steps: WriteSteps,
    target: Target,
    adapter: ItemCorpus,
    waiting: Sequence[Item],
    items: Settling,
    tally: Tally,
) -> None:
    """Write these accepted items and settle them."""
    items.expect(waiting)
    documents = await asyncio.to_thread(documents_of, adapter, waiting)
    compared = await steps.compare(target, documents)
    tally.add_outcomes(compared.outcomes)
    tally.add_notices(compared.notices)
    await asyncio.to_thread(items.settle, [compared.outcomes], [compared.notices])
    if not compared.changed.num_rows:
        return
    written = await write_batch(steps, target, compared.changed)
    tally.add(written)
    await asyncio.to_thread(items.settle, written.outcomes, written.notices)


async def remove(
    steps: WriteSteps, target: Target, doc_ids: list[str], tally: Tally, *, counted: bool = True
) -> set[str]:
    """Remove documents in batches; returns those that another writer holds."""
    busy: set[str] = set()
    size = current_workspace().settings.rag.ingest.batch_documents
    for start in range(0, len(doc_ids), size):
        removed = await steps.remove(target, doc_ids[start : start + size])
        tally.add_outcomes(removed.outcomes, counted=counted)
        tally.add_notices(removed.notices)
        busy |= failed_ids(removed.notices)
    return busy
