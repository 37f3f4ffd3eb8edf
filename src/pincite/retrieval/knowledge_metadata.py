"""Search in collections of others, which keep everything but the text in a metadata JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pincite.errors import FullTextUnsupported
from pincite.retrieval.knowledge import KnowledgeSearchHit, KnowledgeSearchRequest
from pincite.retrieval.knowledge_query import (
    Read,
    expression_text,
    is_wanted,
    json_object,
    request_filter,
    store_query,
    to_hit,
)
from pincite.scopes import OWNER_IDS
from pincite.store.filters import Filter, JsonKey, Missing, all_of
from pincite.store.port import Hit, Mode, VectorStore

CONTENT = "content"
METADATA = "metadata"


class MetadataSearch:
    """``KnowledgeSearchPort`` over rows of a key, ``content``, ``metadata`` and a vector.

    Names in the metadata may be spelled ``snake_case`` or ``camelCase``; where both stand, the
    first counts.

    Args:
        store: Where the collections are.
        key: The key column, which tells the layout; it names a row, never a document.
    """

    def __init__(self, store: VectorStore, key: str) -> None:
        self._store = store
        self._columns = (key, CONTENT, METADATA)

    def filter_text(self, request: KnowledgeSearchRequest) -> str:
        """See ``KnowledgeSearchPort.filter_text``."""
        return expression_text(_filter(request))

    async def search(
        self, collection: str, request: KnowledgeSearchRequest
    ) -> list[KnowledgeSearchHit]:
        """See ``KnowledgeSearchPort.search``."""
        if request.mode is Mode.LEXICAL:
            raise FullTextUnsupported(
                f"Collection {collection!r} has the layout of another program, without full text."
            )
        query = store_query(request, _filter(request), self._columns)
        found = await self._store.search(collection, query)
        rows = [(hit, json_object(hit.columns[METADATA])) for hit in found]
        # Stores differ in what a comparison with a key that is not there means, and newer ones
        # may differ again; and of two spellings only one counts.
        return [_hit(hit, row) for hit, row in rows if _is_wanted(request, row)]


def spellings(name: str) -> tuple[str, ...]:
    """``doc_id`` and ``docId``; a name of one word has one."""
    first, *rest = name.split("_")
    return tuple(dict.fromkeys((name, first + "".join(map(str.capitalize, rest)))))


def _keys(name: str) -> tuple[JsonKey, ...]:
    return tuple(JsonKey(METADATA, key) for key in spellings(name))


def _filter(request: KnowledgeSearchRequest) -> Filter | None:
    keys = [key for name in OWNER_IDS for key in _keys(name)] if request.without_owner else []
    return all_of([request_filter(request, _keys), *map(Missing, keys)])


def _is_wanted(request: KnowledgeSearchRequest, metadata: Mapping[str, Any]) -> bool:
    read = _reader(metadata)
    has_owner = any(value is not None for one in OWNER_IDS for value in read(one))
    return not (request.without_owner and has_owner) and is_wanted(request, read)


def _reader(metadata: Mapping[str, Any]) -> Read:
    return lambda name: tuple(metadata.get(key) for key in spellings(name))


def _hit(found: Hit, metadata: Mapping[str, Any]) -> KnowledgeSearchHit:
    content = found.columns[CONTENT]
    text = content if isinstance(content, str) else ""
    return to_hit(found, text, _reader(metadata), metadata)
