"""Paying for the first contact before the clock of a lookup runs."""

from __future__ import annotations

from contextlib import suppress

from pincite.errors import ServiceError
from pincite.retrieval.knowledge import KnowledgeSearchRequest
from pincite.retrieval.parts import LookupParts, Pinned
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.retriever import RetrieveRequest
from pincite.retrieval.steps import pin
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
        pinned = await pin(parts, one.corpus)
        if pinned is not None:
            with suppress(ServiceError):
                await _search(one, pinned, parts)


async def _search(request: LookupRequest, pinned: Pinned, parts: LookupParts) -> None:
    vectors = await parts.embedder_for(pinned.recipe).embed(["warm-up"], "search")
    query = KnowledgeSearchRequest(
        mode=request.mode if request.mode is not Mode.LEXICAL else Mode.HYBRID,
        top_k=1,
        vector=vectors[0],
        terms="warm-up",
        kb_scope=request.kb_scope,
        exclude_scopes=request.exclude_scopes,
        scope_ids=request.scope_ids(),
    )
    await parts.retriever.retrieve(
        RetrieveRequest(pinned.corpus, pinned.generation, pinned.collection, query)
    )
