"""Writing within a conversation: a few items at once, searchable when the call returns.

No lease is needed: the documents' own journal rows are the right to write. What the store or the
embedder cannot take now is accepted all the same and waits, with the reason said.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from pincite.catalog.database import now_ms
from pincite.catalog.items import FAILED, INDEXED, PENDING
from pincite.catalog.leases import Writer
from pincite.corpora.port import Item, ItemCorpus
from pincite.errors import CorpusBusy, DocumentBusy, PinciteError, RequestInvalid
from pincite.wiring import Workspace, current_workspace
from pincite.writing.items import Settling, accept, pending_items
from pincite.writing.receipt import Tally
from pincite.writing.remove import ONLINE_FENCE
from pincite.writing.steps import WriteSteps
from pincite.writing.target import Target, open_target
from pincite.writing.upkeep import write_waiting

logger = logging.getLogger(__name__)

MAX_ITEMS = 100
# How many items of others, that wait, a write takes along.
ALONG = 32
TIMED_OUT = "write_timed_out"
FIRST_TRIES = 20
FIRST_PAUSE_S = 0.1
EXPIRED = "EXPIRED"
STATES = (INDEXED, PENDING, FAILED, EXPIRED)


@dataclass(frozen=True)
class ItemOutcome:
    """What became of one item: ``INDEXED``, ``PENDING``, ``FAILED`` or ``EXPIRED`` on arrival.

    ``id`` is the client's name for it (the URL of a web result), ``code`` why it is not indexed.
    """

    id: str
    doc_id: str
    state: str
    code: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The JSON object."""
        return {"id": self.id, "doc_id": self.doc_id, "state": self.state, "code": self.code}


@dataclass(frozen=True)
class ItemReceipt:
    """What a write of items did; ``degradations`` are what it had to do without."""

    corpus: str
    items: tuple[ItemOutcome, ...]
    degradations: tuple[Mapping[str, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        states = [one.state for one in self.items]
        return {
            "corpus": self.corpus,
            "items": [one.as_dict() for one in self.items],
            "counts": {state.lower(): states.count(state) for state in STATES},
            "degradations": [dict(one) for one in self.degradations],
        }


async def write_items(
    corpus: str, values: Sequence[Mapping[str, Any]], kb_scope: str = ""
) -> ItemReceipt:
    """Accept items and write them, within the corpus's time for it.

    Args:
        corpus: ``memory`` or ``web``.
        values: What a client sent, its owner's ids included; at most ``MAX_ITEMS``.
        kb_scope: Isolation label, ``""`` = none.

    Raises:
        RequestInvalid: No item, too many, or a corpus that takes none.
        ItemInvalid, ScopeRequired, ScopeInvalid: One of them is wrong; none is accepted.
        CatalogUnreachable, TextsUnreachable: None is accepted.
    """
    workspace = current_workspace()
    adapter = workspace.corpora.get(corpus)
    if not isinstance(adapter, ItemCorpus):
        raise RequestInvalid(f"Corpus {corpus!r} takes no items.")
    if not 0 < len(values) <= MAX_ITEMS:
        raise RequestInvalid(f"{len(values)} items were given, 1 to {MAX_ITEMS} may be.")
    # A page of some megabytes takes seconds to read; others must not wait for it.
    items = await asyncio.to_thread(_parsed, adapter, values, kb_scope)
    accepted = await asyncio.to_thread(accept, workspace, corpus, items)
    settling = Settling(workspace, corpus)
    reason = await _write(workspace, adapter, accepted.items, settling) if accepted.items else None
    outcomes = _outcomes(items, accepted.items, settling, reason)
    # What others wait for is no matter of this caller.
    waits = reason is not None and any(one.state == PENDING for one in outcomes)
    return ItemReceipt(corpus, outcomes, (reason,) if reason is not None and waits else ())


def _parsed(adapter: ItemCorpus, values: Sequence[Mapping[str, Any]], kb_scope: str) -> list[Item]:
    return [adapter.parse(value, kb_scope, now_ms()) for value in values]


def _outcomes(
    items: Sequence[Item],
    accepted: Sequence[Item],
    settling: Settling,
    reason: Mapping[str, str] | None,
) -> tuple[ItemOutcome, ...]:
    alive = {item.row["doc_id"] for item in accepted}
    waits = DocumentBusy.code.lower() if reason is None else reason["code"]

    def outcome(item: Item) -> ItemOutcome:
        doc_id = item.row["doc_id"]
        name = item.row.get("item_id") or item.row["url"]
        if doc_id not in alive:
            return ItemOutcome(name, doc_id, EXPIRED)
        if doc_id in settling.indexed:
            return ItemOutcome(name, doc_id, INDEXED)
        if doc_id in settling.failed:
            return ItemOutcome(name, doc_id, FAILED, settling.failed[doc_id].lower())
        return ItemOutcome(name, doc_id, PENDING, waits)

    return tuple(map(outcome, items))


async def _write(
    workspace: Workspace, adapter: ItemCorpus, items: Sequence[Item], settling: Settling
) -> Mapping[str, str] | None:
    """Write the items, and some that wait; why not, where that could not be done."""
    section = workspace.settings.memory if adapter.name == "memory" else workspace.settings.web
    try:
        async with asyncio.timeout(section.write_timeout_ms / 1000):
            async with _target(workspace, adapter.name) as target:
                await write_waiting(WriteSteps(), target, adapter, items, settling, Tally())
                await _take_along(workspace, target, adapter, items, settling)
    except TimeoutError:
        return _degraded(TIMED_OUT, "The write did not end in time; it is taken up again later.")
    except PinciteError as error:
        return _degraded(error.code.lower(), "It could not be written now; it waits.")
    return None


async def _take_along(
    workspace: Workspace,
    target: Target,
    adapter: ItemCorpus,
    items: Sequence[Item],
    settling: Settling,
) -> None:
    """Write what others left waiting; the caller's own items are written by then."""
    own = {item.row["doc_id"] for item in items}
    waiting = await asyncio.to_thread(pending_items, workspace, adapter.name, ALONG)
    others = [item for item in waiting if item.row["doc_id"] not in own]
    if not others:
        return
    await write_waiting(WriteSteps(), target, adapter, others, settling, Tally())


def _degraded(code: str, message: str) -> Mapping[str, str]:
    logger.warning("items accepted, not written: %s", code)
    return {"stage": "write", "code": code, "message": message}


@asynccontextmanager
async def _target(workspace: Workspace, corpus: str) -> AsyncIterator[Target]:
    """The live generation for a writer without a lease; the first one is made.

    What the block leaves half written is let go, for the next writer to take over at once.

    Raises:
        CorpusBusy: Another writer is making the first one and does not get done.
        EmbedderChanged, RecipeChanged: The settings describe another recipe than the generation's.
    """
    live = await asyncio.to_thread(workspace.catalog.generations.live, corpus)
    for tries_left in range(FIRST_TRIES, 0, -1):
        if live is not None:
            break
        try:
            async with open_target(workspace, corpus):
                pass
        except CorpusBusy:
            if tries_left == 1:
                raise
            await asyncio.sleep(FIRST_PAUSE_S)
        live = await asyncio.to_thread(workspace.catalog.generations.live, corpus)
    assert live is not None
    live.recipe.require_same(workspace.recipe, corpus)
    ttl_ms = workspace.settings.lease.ttl_ms
    writer = Writer(corpus, live.number, uuid.uuid4().hex, ONLINE_FENCE, ttl_ms)
    try:
        yield Target(corpus, live.number, live.collection, live.recipe, writer, frozenset())
    except BaseException:
        with suppress(PinciteError):
            await asyncio.shield(asyncio.to_thread(workspace.catalog.journal.let_go, writer))
        raise
