"""Paying for the first contact before the clock of a lookup runs."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import numpy as np

from pincite.errors import PinciteError
from pincite.retrieval.knowledge import KnowledgeSearchRequest
from pincite.retrieval.parts import LookupParts, Pinned
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.retriever import RetrieveRequest
from pincite.retrieval.rollout import Route, path_of
from pincite.retrieval.steps import legacy, pin
from pincite.store.port import Mode


async def warm_up(request: LookupRequest, parts: LookupParts) -> None:
    """Load the model, open the store and load the collections; nothing where there is none.

    A new process opens an embedded store and loads a collection in about as long as a whole
    lookup may take. Bounded by the store's own timeout, not by the lookup's. What fails here is
    for the lookup to tell.

    Raises:
        EmbedderChanged: The generation's embedder is not at hand.
        CatalogUnreachable: There is no telling what is live.
    """
    for one in request.each():
        if path_of(one, parts.rollouts) is Route.LEGACY:
            with suppress(Exception):
                await legacy(parts, one)
            continue
        try:
            pinned = await pin(parts, one.corpus)
        except PinciteError:
            # Where there is another path to answer by, the lookup will take it.
            if one.corpus not in parts.rollouts:
                raise
            continue
        if pinned is not None:
            with suppress(Exception):
                await _load(one, pinned, parts)


async def _load(request: LookupRequest, pinned: Pinned, parts: LookupParts) -> None:
    """The model by counting, the store by a search with any vector: no embedding is asked for."""
    embedder = parts.embedder_for(pinned.recipe)
    await asyncio.to_thread(embedder.count_tokens, ["warm-up"])
    dim = embedder.info.dim
    query = KnowledgeSearchRequest(
        mode=request.mode if request.mode is not Mode.LEXICAL else Mode.HYBRID,
        top_k=1,
        vector=np.full(dim, dim**-0.5, np.float32),
        terms="warm-up",
        kb_scope=request.kb_scope,
        exclude_scopes=request.exclude_scopes,
        scope_ids=request.scope_ids(),
    )
    await parts.retriever.retrieve(
        RetrieveRequest(pinned.corpus, pinned.generation, pinned.collection, query)
    )
