"""Remove: documents leave the generation, and their absence is confirmed."""

from __future__ import annotations

import asyncio
import uuid

import pyarrow as pa

from pincite.catalog.journal import Opened
from pincite.catalog.leases import Writer
from pincite.errors import CorpusBusy, DocumentBusy, DocumentNotFound
from pincite.schemas import outcomes
from pincite.schemas.notices import NOTICES, failure
from pincite.schemas.outcomes import outcome
from pincite.wiring import current_workspace
from pincite.writing import store
from pincite.writing.tables import Removed, rows_of
from pincite.writing.target import Target

ONLINE_FENCE = 0


async def remove(target: Target, doc_ids: list[str]) -> Removed:
    """Journal, delete, confirm absence, stamp; documents that are not there are no error."""
    catalog = current_workspace().catalog
    opened: Opened = await asyncio.to_thread(catalog.journal.open_removals, target.writer, doc_ids)
    free = list(opened.versions)
    keys = await store.rows_of_documents(target, free)
    if keys.num_rows:
        await store.trim(target, keys)
    await asyncio.to_thread(catalog.documents.stamp_removed, target.writer, free)
    busy = [
        failure(d, d, DocumentBusy(f"Document {d!r} is being written by another writer."))
        for d in sorted(opened.busy)
    ]
    return Removed(_outcomes(free, keys), NOTICES.from_rows(busy))


def _outcomes(doc_ids: list[str], keys: pa.Table) -> pa.Table:
    deleted = dict.fromkeys(doc_ids, 0)
    for row in rows_of(keys):
        deleted[row["doc_id"]] += 1
    return outcomes.OUTCOMES.from_rows(
        outcome(doc_id, outcomes.DELETED, deleted=count) for doc_id, count in deleted.items()
    )


async def remove_online(corpus: str, doc_ids: list[str]) -> pa.Table:
    """Remove documents from the live generation, outside of any pipeline.

    Needs no lease: the documents' own journal rows are the right to write.

    Raises:
        CorpusEmpty: The corpus has no generation.
        DocumentNotFound: A document is not in the corpus; none is removed then.
        CorpusBusy: A document is being written right now.
    """
    workspace = current_workspace()
    live = await asyncio.to_thread(workspace.catalog.generations.require_live, corpus)
    held = await asyncio.to_thread(workspace.catalog.documents.held, corpus, live.number, doc_ids)
    unknown = [doc_id for doc_id in doc_ids if doc_id not in held]
    if unknown:
        raise DocumentNotFound(f"Corpus {corpus!r} has no document {unknown[0]!r}.")
    ttl_ms = workspace.settings.lease.ttl_ms
    writer = Writer(corpus, live.number, uuid.uuid4().hex, ONLINE_FENCE, ttl_ms)
    target = Target(corpus, live.number, live.collection, live.recipe, writer, frozenset())
    removed = await remove(target, doc_ids)
    if removed.notices.num_rows:
        busy = removed.notices["doc_id"][0].as_py()
        raise CorpusBusy(f"Document {busy!r} of corpus {corpus!r} is being written right now.")
    if corpus in workspace.catalog.items:
        await asyncio.to_thread(workspace.catalog.items[corpus].forget, doc_ids)
    return removed.outcomes
