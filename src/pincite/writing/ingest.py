"""Ingest: a folder sync, from files to a stamped generation.

discover → (read → compare → write) per batch → recover → prune → flush
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pyarrow as pa

from pincite.corpora.port import Read
from pincite.scopes import scope_columns
from pincite.settings.model import IngestSettings
from pincite.wiring import current_workspace
from pincite.writing.discover import bind
from pincite.writing.found import Extent
from pincite.writing.items import Settling
from pincite.writing.pipeline import write
from pincite.writing.receipt import Receipt, Tally
from pincite.writing.record import recorded
from pincite.writing.request import IngestRequest
from pincite.writing.steps import IngestSteps, WriteSteps
from pincite.writing.target import Target, open_target
from pincite.writing.upkeep import drain, recover, remove
from pincite.writing.vanish import Seen, may_prune, refusal


async def ingest(
    request: IngestRequest, steps: IngestSteps, flow_run_id: str | None = None
) -> Receipt:
    """Sync folders or files into the live generation of the corpus; the run is kept on record.

    Raises:
        PinciteError: The run could not be done. What ended a run after its writes is the
            receipt's ``error`` instead: ``PRUNE_REFUSED``, ``IDENTITY_CONFLICT``.
    """
    tally = Tally()
    async with recorded(current_workspace(), "ingest", request.corpus, flow_run_id) as run:
        await _sync(request, steps, tally)
        run.receipt = tally.receipt(run.id, request.corpus, request.kb_scope, run.elapsed_ms())
    return replace(run.receipt, flow_run_id=flow_run_id)


async def _sync(request: IngestRequest, steps: IngestSteps, tally: Tally) -> None:
    workspace = current_workspace()
    found = await steps.discover(request)
    tally.add_notices(found.notices)
    tally.documents["skipped"] = found.skipped
    async with open_target(workspace, request.corpus) as target:
        await asyncio.to_thread(bind, workspace, request.corpus, found.roots)
        items = Settling(workspace, request.corpus) if scope_columns(request.corpus) else None
        seen = Seen(replaces=items is not None)
        in_flight = workspace.settings.rag.ingest.in_flight
        batches = _changed(request, steps, target, found.files, seen, items, tally)
        async for written in write(steps.write, target, batches, in_flight):
            tally.add(written)
            if items is not None:
                await asyncio.to_thread(items.settle, written.outcomes, written.notices)
        target = await recover(steps.write, target, tally)
        if items is not None:
            await drain(steps.write, target, items, tally)
        await _prune(request, steps.write, target, found.extents, seen, tally)
        if tally.chunks["written"] or tally.chunks["deleted"]:
            await steps.write.flush(target)


async def _changed(
    request: IngestRequest,
    steps: IngestSteps,
    target: Target,
    files: pa.Table,
    seen: Seen,
    items: Settling | None,
    tally: Tally,
) -> AsyncIterator[pa.Table]:
    """Batches of documents that must be written; the others are counted on the way."""
    workspace = current_workspace()
    for part in in_batches(files, workspace.settings.rag.ingest):
        read = await steps.read(request.corpus, part)
        await _note_unread(steps, target, read, tally)
        documents, conflicts = seen.take(read.documents)
        tally.add_failed(conflicts)
        if items is not None:
            taken = set(documents["doc_id"].to_pylist())
            items.expect(item for item in read.items if item.row["doc_id"] in taken)
        compared = await steps.write.compare(target, documents)
        tally.add_outcomes(compared.outcomes)
        tally.add_notices(compared.notices)
        if items is not None:
            await asyncio.to_thread(items.settle, [compared.outcomes], [compared.notices])
        workspace.report("read", part.num_rows)
        if compared.changed.num_rows:
            yield compared.changed


def in_batches(files: pa.Table, settings: IngestSettings) -> Iterator[pa.Table]:
    """Consecutive files, bounded in number and in bytes."""
    start, size = 0, 0
    for position, file_size in enumerate(files["size"].to_pylist()):
        full = size + file_size > settings.batch_bytes
        if position > start and (full or position - start >= settings.batch_documents):
            yield files.slice(start, position - start)
            start, size = position, 0
        size += file_size
    if start < files.num_rows:
        yield files.slice(start)


async def _note_unread(steps: IngestSteps, target: Target, read: Read, tally: Tally) -> None:
    tally.add_notices(read.notices)
    tally.documents["failed"] += read.failed
    tally.documents["expired"] += read.expired
    if read.attempts.num_rows:
        tally.add_outcomes(await steps.write.fail(target, read.attempts, read.notices))


async def _prune(
    request: IngestRequest,
    steps: WriteSteps,
    target: Target,
    extents: tuple[Extent, ...],
    seen: Seen,
    tally: Tally,
) -> None:
    """Delete the documents whose file is gone, each source by itself."""
    for extent in extents:
        if not may_prune(request, extent):
            continue
        held = await asyncio.to_thread(
            current_workspace().catalog.documents.of_source,
            target.corpus,
            target.generation,
            extent.source_name,
            request.kb_scope,
        )
        # A document whose only tries failed was never in the corpus; it is just forgotten.
        never = seen.vanished([one for one in held if not one.version], extent)
        await remove(steps, target, never, tally, counted=False)
        stamped = [one for one in held if one.version]
        vanished = seen.vanished(stamped, extent)
        refused = refusal(request, extent, len(vanished), len(stamped))
        if refused is not None:
            tally.error = tally.error or refused
        else:
            await remove(steps, target, vanished, tally)
