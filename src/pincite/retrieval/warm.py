"""Paying for the first contact before the clock of a lookup runs."""

from __future__ import annotations

import asyncio

from pincite.retrieval.pipeline import LookupParts


async def warm_up(corpus: str, parts: LookupParts) -> None:
    """Open the store, load the live collection and the model; nothing where there is none.

    A new process opens an embedded store and loads a collection in about as long as a whole
    lookup may take. Bounded by the store's own timeout, not by the lookup's.

    Raises:
        ServiceError: The catalogue or the store is out of reach.
    """
    generation = await asyncio.to_thread(parts.catalog.generations.live, corpus)
    if generation is not None:
        await parts.store.get(generation.collection, ["warm-up"], ["doc_id"])
        # An embedded model is loaded by its first use.
        embedder = parts.embedder_for(generation.recipe)
        await asyncio.to_thread(embedder.count_tokens, ["warm-up"])
