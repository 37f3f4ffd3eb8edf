"""Where a pipeline writes: the generation, its lease, and what its last writer left behind."""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pincite.catalog.catalog import Catalog
from pincite.catalog.generations import Generation
from pincite.catalog.leases import Writer
from pincite.errors import CollectionConflict, PinciteError
from pincite.recipe import Recipe
from pincite.scopes import level_columns, scope_columns
from pincite.store.port import CollectionSpec
from pincite.wiring import Workspace

logger = logging.getLogger(__name__)

# A lease is renewed this often within its time to live, so that one slow renewal loses nothing.
RENEWALS = 3


@dataclass(frozen=True)
class Target:
    """One generation that one writer holds; all values, so that it can be a task's argument.

    ``dirty`` are the documents that a killed writer left half written: they are written again
    whatever their fingerprint says.
    """

    corpus: str
    generation: int
    collection: str
    recipe: Recipe
    writer: Writer
    dirty: frozenset[str]


@asynccontextmanager
async def open_target(workspace: Workspace, corpus: str) -> AsyncIterator[Target]:
    """Hold the corpus's live generation for writing; the first one is made.

    Raises:
        CorpusBusy: Another writer holds it.
        EmbedderChanged, RecipeChanged: The settings describe another recipe than the generation's.
        CollectionConflict: The store's collection and the catalogue do not belong together.
    """
    catalog, recipe = workspace.catalog, workspace.recipe
    live = await asyncio.to_thread(catalog.generations.live, corpus)
    if live is not None:
        live.recipe.require_same(recipe, corpus)
        number = live.number
    else:
        number = await asyncio.to_thread(catalog.generations.next_number, corpus)
    ttl_ms = workspace.settings.lease.ttl_ms
    owner = uuid.uuid4().hex
    writer = await asyncio.to_thread(catalog.leases.acquire, corpus, number, owner, ttl_ms)
    async with _heartbeat(catalog, writer):
        generation = await _ensure_generation(workspace, corpus, number, recipe)
        left = await asyncio.to_thread(catalog.journal.left_open, writer)
        yield Target(
            corpus,
            number,
            generation.collection,
            recipe,
            writer,
            frozenset(pending.doc_id for pending in left),
        )


def collection_spec(corpus: str, dim: int) -> CollectionSpec:
    """What the collection of a corpus looks like."""
    return CollectionSpec(dim, scope_columns(corpus), level_columns(corpus))


async def _ensure_generation(
    workspace: Workspace, corpus: str, number: int, recipe: Recipe
) -> Generation:
    """The live generation with its collection; read again now that the lease is held."""
    generations = workspace.catalog.generations
    live = await asyncio.to_thread(generations.live, corpus)
    if live is not None and live.number != number:
        raise CollectionConflict(
            f"Generation {live.number} of corpus {corpus!r} went live meanwhile.",
            "Run the command again.",
        )
    collection = live.collection if live is not None else f"pincite_{corpus}_g{number}"
    await _ensure_collection(workspace, corpus, number, collection, known=live is not None)
    if live is not None:
        return live
    return await asyncio.to_thread(generations.add_first, corpus, number, collection, recipe)


async def _ensure_collection(
    workspace: Workspace, corpus: str, number: int, collection: str, *, known: bool
) -> None:
    store, documents = workspace.store, workspace.catalog.documents
    exists = await store.exists(collection)
    if exists and not known and await store.count(collection):
        raise CollectionConflict(
            f"Collection {collection!r} holds rows that this catalogue does not know."
        )
    if not exists and known:
        states = await asyncio.to_thread(documents.count_states, corpus, number)
        if states.get("chunks", 0):
            raise CollectionConflict(
                f"The catalogue knows {states['chunks']} chunks of {collection!r}, "
                "but the store has no such collection.",
                "Point [store] at the store that holds it, or start a new home.",
            )
    await store.create(collection, collection_spec(corpus, workspace.recipe.dim))
    await store.point_alias(f"pincite_{corpus}", collection)


@asynccontextmanager
async def _heartbeat(catalog: Catalog, writer: Writer) -> AsyncIterator[None]:
    """Renew the lease until the block ends, then give it back.

    A thread renews it, because a busy event loop must not cost the lease. A lost lease needs no
    alarm here: every stamp checks the fencing token.
    """
    stop = threading.Event()
    thread = threading.Thread(target=_renew, args=(catalog, writer, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        await asyncio.to_thread(thread.join)
        await asyncio.to_thread(catalog.leases.release, writer)


def _renew(catalog: Catalog, writer: Writer, stop: threading.Event) -> None:
    while not stop.wait(writer.ttl_ms / 1000 / RENEWALS):
        try:
            catalog.leases.renew(writer)
        except PinciteError as error:
            logger.warning("lease not renewed", extra={"code": error.code})
            if not error.retryable:
                return
