"""Search in collections that Pincite wrote: every value has a column of its own."""

from __future__ import annotations

from pincite.errors import StoreRejected
from pincite.retrieval.knowledge import KnowledgeSearchHit, KnowledgeSearchRequest
from pincite.retrieval.knowledge_query import (
    expression_text,
    json_object,
    request_filter,
    store_query,
    to_hit,
)
from pincite.store.filters import Filter
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
        return expression_text(request_filter(request, _column))

    async def search(
        self, collection: str, request: KnowledgeSearchRequest
    ) -> list[KnowledgeSearchHit]:
        """See ``KnowledgeSearchPort.search``."""
        filter = request_filter(request, _column)
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
        query = store_query(request, filter, (*columns, *request.scope_ids))
        found = await self._store.search(collection, query)
        return [_hit(hit) for hit in found if _is_owned(hit, request)]


def _is_owned(hit: Hit, request: KnowledgeSearchRequest) -> bool:
    """Whether the row has the owner asked for, whatever the store made of the filter."""
    return all(hit.columns.get(name) == value for name, value in request.scope_ids.items())


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
