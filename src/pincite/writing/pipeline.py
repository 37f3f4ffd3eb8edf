"""The write pipeline: the one DAG by which documents enter a generation.

    chunk → journal → embed → check → upsert → read back → trim → stamp

It is written once over a set of steps. In a flow the steps are Prefect tasks, elsewhere the
plain functions; both hand Arrow tables on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field

import pyarrow as pa

from pincite.schemas.attempts import ATTEMPTS
from pincite.schemas.quality import QUALITY
from pincite.schemas.rows import rows_contract
from pincite.writing.steps import WriteSteps
from pincite.writing.tables import (
    Cost,
    ReadBack,
    failed_ids,
    joined,
    only,
    without,
)
from pincite.writing.target import Target


@dataclass(frozen=True)
class Checks:
    """What embedding and checking a batch said and cost."""

    notices: tuple[pa.Table, ...] = ()
    quality: pa.Table = field(default_factory=QUALITY.empty)
    quarantined: int = 0
    cost: Cost = field(default_factory=Cost)


@dataclass(frozen=True)
class Written:
    """What one batch did."""

    outcomes: tuple[pa.Table, ...]
    notices: tuple[pa.Table, ...]
    checks: Checks


async def write_batch(steps: WriteSteps, target: Target, documents: pa.Table) -> Written:
    """Write documents into the generation; each is stamped, or fails and stays as it was."""
    chunked = await steps.chunk(documents)
    documents = without(documents, failed_ids(chunked.notices))
    opened = await steps.journal(target, documents, chunked.chunks)
    rows, checks = await _rows(steps, target, opened.chunks)
    failed = failed_ids(*checks.notices)
    good, rows = without(opened.drafts, failed), without(rows, failed)
    if rows.num_rows:
        await steps.upsert(target, rows)
    back = await steps.read_back(target, good, rows)
    if back.stale.num_rows:
        await steps.trim(target, back.stale)
    notices = (chunked.notices, opened.notices, *checks.notices, back.notices)
    outcomes = await _settle(steps, target, opened.drafts, rows, back, notices)
    return Written(outcomes, notices, checks)


async def _rows(steps: WriteSteps, target: Target, chunks: pa.Table) -> tuple[pa.Table, Checks]:
    """Embed and check; without chunks, or without rows, there is nothing to ask a step."""
    if not chunks.num_rows:
        return rows_contract(target.recipe.dim).empty(), Checks()
    embedded = await steps.embed(target, chunks)
    if not embedded.rows.num_rows:
        return embedded.rows, Checks((embedded.notices,), cost=embedded.cost)
    checked = await steps.check(target, embedded.rows)
    quarantined = embedded.rows.num_rows - checked.rows.num_rows
    notices = (embedded.notices, checked.notices)
    return checked.rows, Checks(notices, checked.quality, quarantined, embedded.cost)


async def _settle(
    steps: WriteSteps,
    target: Target,
    drafts: pa.Table,
    rows: pa.Table,
    back: ReadBack,
    notices: tuple[pa.Table, ...],
) -> tuple[pa.Table, ...]:
    """Stamp what is in the store, record what failed."""
    failed = failed_ids(*notices)
    good = without(drafts, failed)
    outcomes = [await steps.stamp(target, good, without(rows, failed), back.stale)]
    lost = only(drafts, failed)
    if lost.num_rows:
        about = only(joined(notices), lost["doc_id"].to_pylist())
        outcomes.append(await steps.fail(target, _attempts(lost), about))
    return tuple(outcomes)


def _attempts(drafts: pa.Table) -> pa.Table:
    table = drafts.select(["doc_id", "kb_scope", "source_name"])
    journalled = pa.array([True] * table.num_rows, pa.bool_())
    return ATTEMPTS.conform(table.append_column("journalled", journalled))


async def write(
    steps: WriteSteps, target: Target, batches: AsyncIterator[pa.Table], in_flight: int
) -> AsyncIterator[Written]:
    """Write batches, at most ``in_flight`` at once, so that memory does not grow with the corpus.

    Results come as batches end. When one batch raises, the others are stopped and the error is
    raised: what they had not stamped, the next run writes again.
    """
    running: set[asyncio.Task[Written]] = set()
    try:
        async for batch in batches:
            running.add(asyncio.create_task(write_batch(steps, target, batch)))
            while len(running) >= in_flight:
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield task.result()
        while running:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield task.result()
    finally:
        await _stop(running)


async def _stop(running: set[asyncio.Task[Written]]) -> None:
    for task in running:
        task.cancel()
    for task in running:
        with suppress(asyncio.CancelledError, Exception):
            await task
