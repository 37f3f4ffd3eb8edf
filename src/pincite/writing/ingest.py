"""Ingest: a folder sync, from files to a stamped generation.

discover → (read → compare → write) per batch → recover → prune → flush
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

from pincite.catalog.documents import Indexed
from pincite.errors import IdentityConflict, PinciteError, PruneRefused
from pincite.schemas import outcomes
from pincite.schemas.notices import NOTICES
from pincite.settings.model import IngestSettings
from pincite.wiring import current_workspace
from pincite.writing.discover import Discovered, Extent
from pincite.writing.pipeline import WriteSteps, write, write_batch
from pincite.writing.receipt import Receipt, Tally
from pincite.writing.record import recorded
from pincite.writing.recover import in_parts
from pincite.writing.request import IngestRequest
from pincite.writing.tables import Read, failure, outcome, rows_of, warning
from pincite.writing.target import Target, open_target

# A sync that would delete more than this many and more than half of a source asks first.
PRUNE_FREELY = 10


@dataclass(frozen=True)
class IngestSteps:
    """What a folder sync adds to the write pipeline."""

    discover: Callable[[IngestRequest], Awaitable[Discovered]]
    read: Callable[[str, pa.Table], Awaitable[Read]]
    write: WriteSteps


@dataclass
class _Seen:
    """Which file gave which document in this run, and which files gave none."""

    source_by_id: dict[str, str] = field(default_factory=dict)
    read_sources: set[str] = field(default_factory=set)

    def take(self, doc_id: str, source: str) -> str | None:
        """Note the document; the other file's ``source`` where its id is taken already."""
        if doc_id in self.source_by_id:
            return self.source_by_id[doc_id]
        self.source_by_id[doc_id] = source
        self.read_sources.add(source)
        return None


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
        seen = _Seen()
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
    seen: _Seen,
    tally: Tally,
) -> AsyncIterator[pa.Table]:
    """Batches of documents that must be written; the others are counted on the way."""
    workspace = current_workspace()
    for part in in_batches(files, workspace.settings.rag.ingest):
        read = await steps.read(request.corpus, part)
        await _note_unread(steps, target, read, tally)
        documents = _without_conflicts(read.documents, seen, tally)
        compared = await steps.write.compare(target, documents)
        tally.add_outcomes(compared.outcomes)
        tally.add_notices(compared.notices)
        _note_conflict(compared.notices, tally)
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


def _without_conflicts(documents: pa.Table, seen: _Seen, tally: Tally) -> pa.Table:
    """Documents whose id no other file of this run gave; the first keeps it."""
    kept, notices, failed = [], [], []
    ids, sources = documents["doc_id"].to_pylist(), documents["source"].to_pylist()
    for position, (doc_id, source) in enumerate(zip(ids, sources, strict=True)):
        first = seen.take(doc_id, source)
        if first is None:
            kept.append(position)
            continue
        error = IdentityConflict(f"{first!r} and {source!r} both give document id {doc_id!r}.")
        notices.append(failure(doc_id, source, error))
        failed.append(outcome(doc_id, outcomes.FAILED))
        tally.error = tally.error or error
    tally.add_notices(NOTICES.from_rows(notices))
    tally.add_outcomes(outcomes.OUTCOMES.from_rows(failed))
    return documents.take(pa.array(kept, pa.int64()))


def _note_conflict(notices: pa.Table, tally: Tally) -> None:
    for row in rows_of(notices):
        if row["code"] == IdentityConflict.code and tally.error is None:
            message = row["message"].removesuffix(IdentityConflict.advice).rstrip()
            tally.error = IdentityConflict(message)


async def _recover(steps: WriteSteps, target: Target, tally: Tally) -> None:
    """Put right what a killed writer left and this run did not read again."""
    left = await steps.restore(target)
    tally.add_notices(left.notices)
    if left.removals:
        tally.add_outcomes((await steps.remove(target, left.removals)).outcomes, counted=False)
    size = current_workspace().settings.rag.ingest.batch_documents
    for part in in_parts(left.documents, size):
        tally.add(await write_batch(steps, target, part), counted=False)
    again = [*left.removals, *left.documents["doc_id"].to_pylist()]
    message = "A run that was stopped had left this document half written; it is whole again."
    tally.add_notices(NOTICES.from_rows(warning(d, d, "RECOVERED", message) for d in again))


async def _prune(
    request: IngestRequest,
    steps: WriteSteps,
    target: Target,
    extents: tuple[Extent, ...],
    seen: _Seen,
    tally: Tally,
) -> None:
    """Delete the documents whose file is gone, each source by itself."""
    for extent in extents:
        if request.prune == "never" or not extent.prunable:
            continue
        held = await asyncio.to_thread(
            current_workspace().catalog.documents.of_source,
            target.corpus,
            target.generation,
            extent.source_name,
            request.kb_scope,
        )
        vanished = [one.doc_id for one in held if _vanished(one, extent, seen)]
        refusal = _refusal(request, extent, len(vanished), len(held))
        if refusal is not None:
            tally.error = tally.error or refusal
        elif vanished:
            await _remove(steps, target, vanished, tally)


def _vanished(held: Indexed, extent: Extent, seen: _Seen) -> bool:
    """Its file is gone, or the file gives another id now."""
    if not held.source.startswith(extent.prefix) or held.doc_id in seen.source_by_id:
        return False
    return held.source not in extent.present or held.source in seen.read_sources


def _refusal(
    request: IngestRequest, extent: Extent, vanished: int, held: int
) -> PinciteError | None:
    if request.prune == "force" or vanished <= PRUNE_FREELY or vanished * 2 <= held:
        return None
    return PruneRefused(
        f"{vanished} of the {held} documents of source {extent.source_name!r} have no file any"
        " more; deleting them was refused."
    )


async def _remove(steps: WriteSteps, target: Target, doc_ids: list[str], tally: Tally) -> None:
    size = current_workspace().settings.rag.ingest.batch_documents
    for start in range(0, len(doc_ids), size):
        removed = await steps.remove(target, doc_ids[start : start + size])
        tally.add_outcomes(removed.outcomes)
        tally.add_notices(removed.notices)


def plain_steps() -> IngestSteps:
    """The steps as plain functions: the pipeline without an orchestrator."""
    from pincite.writing import (
        check,
        chunk,
        compare,
        discover,
        embed,
        journal,
        read,
        recover,
        remove,
        stamp,
        store,
    )

    return IngestSteps(
        discover=discover.discover,
        read=read.read,
        write=WriteSteps(
            compare=compare.compare,
            chunk=chunk.chunk,
            journal=journal.journal,
            embed=embed.embed,
            check=check.check,
            upsert=store.upsert,
            read_back=store.read_back,
            trim=store.trim,
            stamp=stamp.stamp,
            fail=stamp.fail,
            remove=remove.remove,
            restore=recover.restore,
            flush=store.flush,
        ),
    )
