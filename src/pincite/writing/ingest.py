"""Ingest: a folder sync, from files to a stamped generation.

discover → (read → compare → write) per batch → recover → prune → flush
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pyarrow as pa

from pincite.corpora.port import Read
from pincite.schemas.notices import NOTICES, warning
from pincite.settings.model import IngestSettings
from pincite.wiring import current_workspace
from pincite.writing.discover import Extent, bind
from pincite.writing.pipeline import write, write_batch
from pincite.writing.receipt import Receipt, Tally
from pincite.writing.record import recorded
from pincite.writing.recover import in_parts
from pincite.writing.request import IngestRequest
from pincite.writing.steps import IngestSteps, WriteSteps
from pincite.writing.tables import Restored, failed_ids
from pincite.writing.target import Target, open_target
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
        seen = Seen()
        in_flight = workspace.settings.rag.ingest.in_flight
        batches = _changed(request, steps, target, found.files, seen, tally)
        async for written in write(steps.write, target, batches, in_flight):
            tally.add(written)
        await _recover(steps.write, target, tally)
        await _prune(request, steps.write, target, found.extents, seen, tally)
        if tally.chunks["written"] or tally.chunks["deleted"]:
            await steps.write.flush(target)


async def _changed(
    request: IngestRequest,
    steps: IngestSteps,
    target: Target,
    files: pa.Table,
    seen: Seen,
    tally: Tally,
) -> AsyncIterator[pa.Table]:
    """Batches of documents that must be written; the others are counted on the way."""
    workspace = current_workspace()
    for part in in_batches(files, workspace.settings.rag.ingest):
        read = await steps.read(request.corpus, part)
        await _note_unread(steps, target, read, tally)
        documents, conflicts = seen.take(read.documents)
        tally.add_failed(conflicts)
        compared = await steps.write.compare(target, documents)
        tally.add_outcomes(compared.outcomes)
        tally.add_notices(compared.notices)
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
    if read.attempts.num_rows:
        tally.add_outcomes(await steps.write.fail(target, read.attempts, read.notices))


async def _recover(steps: WriteSteps, target: Target, tally: Tally) -> None:
    """Put right what a writer left half done and this run did not read again.

    What cannot be finished is taken back, so that no reader sees a version that is not stamped.
    """
    finished = await _again(steps, target, await steps.restore(target), tally)
    tally.add_notices(_told(finished, "RECOVERED", "was left half written; it is whole again"))
    taken_back = await _again(steps, target, await steps.roll_back(target), tally)
    tally.add_notices(_told(taken_back, "ROLLED_BACK", "could not be finished; it is as it was"))


async def _again(steps: WriteSteps, target: Target, left: Restored, tally: Tally) -> list[str]:
    """Write and remove what was left open; returns the documents that are settled now."""
    tally.add_notices(left.notices)
    await _remove(steps, target, left.removals, tally, counted=False)
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
        await _remove(steps, target, never, tally, counted=False)
        stamped = [one for one in held if one.version]
        vanished = seen.vanished(stamped, extent)
        refused = refusal(request, extent, len(vanished), len(stamped))
        if refused is not None:
            tally.error = tally.error or refused
        else:
            await _remove(steps, target, vanished, tally)


async def _remove(
    steps: WriteSteps, target: Target, doc_ids: list[str], tally: Tally, *, counted: bool = True
) -> None:
    size = current_workspace().settings.rag.ingest.batch_documents
    for start in range(0, len(doc_ids), size):
        removed = await steps.remove(target, doc_ids[start : start + size])
        tally.add_outcomes(removed.outcomes, counted=counted)
        tally.add_notices(removed.notices)
