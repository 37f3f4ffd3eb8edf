"""Search in collections that Pincite wrote: every value has a column of its own."""

from __future__ import annotations

from pincite.retrieval.knowledge import KnowledgeSearchHit, KnowledgeSearchRequest
from pincite.retrieval.knowledge_query import (
    expression_text,
    json_object,
    request_filter,
    store_query,
    to_hit,
)
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
    """``KnowledgeSearchPort`` over the native layout."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store

    def filter_text(self, request: KnowledgeSearchRequest) -> str:
        """See ``KnowledgeSearchPort.filter_text``."""
        return expression_text(request_filter(request, _column))

    async def search(
        self, collection: str, request: KnowledgeSearchRequest
    ) -> list[KnowledgeSearchHit]:
        """See ``KnowledgeSearchPort.search``."""
        query = store_query(request, request_filter(request, _column), COLUMNS)
        return [_hit(found) for found in await self._store.search(collection, query)]


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
    )
