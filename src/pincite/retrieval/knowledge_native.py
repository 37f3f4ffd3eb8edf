"""Search in collections that Pincite wrote: every value has a column of its own."""

from __future__ import annotations

from pincite.errors import StoreRejected
from pincite.retrieval.knowledge import KnowledgeSearchHit, KnowledgeSearchRequest
from pincite.retrieval.knowledge_query import (
    expression_text,
    is_open,
    json_object,
    request_filter,
    store_query,
    to_hit,
)
from pincite.store.filters import Eq, Filter, Greater, Less, Or, all_of
from pincite.store.native import TERMS
from pincite.store.port import Hit, VectorStore

COLUMNS = (
    "doc_id",
    "doc_version",
    "chunk_index",
    "kb_scope",
    "category",
    "source",
    "title",
    "heading",
    "content",
    "content_sha256",
    "char_start",
    "char_end",
    "metadata",
)


class NativeSearch:
    """``KnowledgeSearchPort`` over the native layout.

    Hits bring their terms where the collection has full text, so that nobody has to analyse
    their texts again.
    """

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._without_terms: set[str] = set()

    def filter_text(self, request: KnowledgeSearchRequest) -> str:
        """See ``KnowledgeSearchPort.filter_text``."""
        return expression_text(_filter(request))

    async def search(
        self, collection: str, request: KnowledgeSearchRequest
    ) -> list[KnowledgeSearchHit]:
        """See ``KnowledgeSearchPort.search``."""
        filter = _filter(request)
        if self._store.capabilities.full_text and collection not in self._without_terms:
            try:
                return await self._found(collection, request, filter, (*COLUMNS, TERMS))
            except StoreRejected:
                # A collection from before full text has no terms; any other reason comes again.
                found = await self._found(collection, request, filter, COLUMNS)
            self._without_terms.add(collection)
            return found
        return await self._found(collection, request, filter, COLUMNS)

    async def _found(
        self,
        collection: str,
        request: KnowledgeSearchRequest,
        filter: Filter | None,
        columns: tuple[str, ...],
    ) -> list[KnowledgeSearchHit]:
        asked = [*request.scope_ids, *_numbers(request)]
        query = store_query(request, filter, (*columns, *asked))
        found = await self._store.search(collection, query)
        return [_hit(hit) for hit in found if _is_wanted(hit, request)]


def _filter(request: KnowledgeSearchRequest) -> Filter | None:
    """Expiry and sensitivity are part of the search: k rows that may be seen are to come back."""
    alive = level = None
    if request.alive_at:
        alive = Or((Eq("expires_at", 0), Greater("expires_at", request.alive_at)))
    if request.max_sensitivity is not None:
        level = Less("sensitivity_level", request.max_sensitivity + 1)
    return all_of([request_filter(request, _column), alive, level])


def _numbers(request: KnowledgeSearchRequest) -> list[str]:
    """Columns that are read because the request says something about them."""
    alive = ["expires_at"] if request.alive_at else []
    return [*alive, "sensitivity_level"] if request.max_sensitivity is not None else alive


def _is_wanted(hit: Hit, request: KnowledgeSearchRequest) -> bool:
    """Whether the row is the owner's and may be seen, whatever the store made of the filter."""
    row = hit.columns
    owned = all(row.get(name) == value for name, value in request.scope_ids.items())
    return owned and is_open(request, lambda name: (row.get(name),))


def _column(name: str) -> tuple[str]:
    return (name,)


def _hit(found: Hit) -> KnowledgeSearchHit:
    row = found.columns
    content = row["content"]
    return to_hit(
        found,
        content if isinstance(content, str) else "",
        lambda name: (row.get(name),),
        json_object(row.get("metadata")),
        row.get(TERMS, ""),
    )
