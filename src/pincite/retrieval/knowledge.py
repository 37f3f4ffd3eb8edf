"""The port to what is known: one leg of a search in a collection of any layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pincite.embedding.port import Vectors
from pincite.errors import ConfigInvalid
from pincite.store.port import Mode, VectorStore


@dataclass(frozen=True)
class KnowledgeSearchRequest:
    """One leg of a search.

    ``DENSE`` compares ``vector``, ``(dim,) float32``; ``LEXICAL`` looks for ``terms``, analysed
    words joined by single spaces. With ``kb_scope`` only rows of that scope are seen, without it
    all but those of ``exclude_scopes``; rows without any scope belong to the latter. Every one of
    ``scope_ids`` must be the row's, and ``category`` too unless it is ``""``. ``without_owner``
    leaves out rows that carry any such id, in layouts whose collection may hold several corpora.

    Rows that expire at ``alive_at`` (epoch ms, UTC) or before are not seen, nor those above
    ``max_sensitivity``; 0 and ``None`` ask for neither.
    """

    mode: Mode
    top_k: int
    vector: Vectors | None = None
    terms: str = ""
    kb_scope: str = ""
    exclude_scopes: tuple[str, ...] = ()
    scope_ids: Mapping[str, str] = field(default_factory=dict)
    category: str = ""
    timeout_s: float | None = None
    without_owner: bool = False
    alive_at: int = 0
    max_sensitivity: int | None = None


@dataclass(frozen=True)
class KnowledgeSearchHit:
    """One row that was found; what it does not say is ``None``, texts ``""``.

    ``similarity`` is a cosine in [-1, 1], ``lexical`` a score above 0, both higher is better; the
    leg that did not run is ``None``, and ``raw_score`` is what the store said. The span is of
    ``content``; ``content_sha256`` is always there.
    """

    vector_id: str | None
    content: str
    similarity: float | None
    lexical: float | None
    raw_score: float
    doc_id: str | None
    chunk_index: int | None
    doc_version: int | None
    source: str
    title: str
    heading: str
    kb_scope: str
    category: str
    content_sha256: str
    char_start: int | None
    char_end: int | None
    metadata: Mapping[str, Any]
    terms: str = ""
    expires_at: int = 0


class KnowledgeSearchPort(Protocol):
    """Searches collections of one layout. Times are seconds.

    Raises:
        RequestInvalid: The mode is ``HYBRID``, which is for the caller to fuse, or its vector is
            missing, or ``top_k`` is out of range.
        FullTextUnsupported: ``LEXICAL`` in a collection without full text.
        StoreUnreachable, StoreLocked, StoreRejected.
    """

    def filter_text(self, request: KnowledgeSearchRequest) -> str:
        """What rows must satisfy, as a readable expression; ``""`` for every row."""
        ...

    async def search(
        self, collection: str, request: KnowledgeSearchRequest
    ) -> list[KnowledgeSearchHit]:
        """At most ``top_k`` hits, score descending, then key ascending."""
        ...


def search_port(layout: str, store: VectorStore) -> KnowledgeSearchPort:
    """The port for collections of this layout: ``native``, ``spring`` or ``sdk``.

    Raises:
        ConfigInvalid: There is no such layout.
    """
    make = _LAYOUTS.get(layout)
    if make is None:
        raise ConfigInvalid(
            f"There is no layout {layout!r}.", f"Use one of {', '.join(map(repr, _LAYOUTS))}."
        )
    return make(store)


def _native(store: VectorStore) -> KnowledgeSearchPort:
    from pincite.retrieval.knowledge_native import NativeSearch

    return NativeSearch(store)


def _spring(store: VectorStore) -> KnowledgeSearchPort:
    from pincite.retrieval.knowledge_metadata import MetadataSearch

    return MetadataSearch(store, key="doc_id")


def _sdk(store: VectorStore) -> KnowledgeSearchPort:
    from pincite.retrieval.knowledge_metadata import MetadataSearch

    return MetadataSearch(store, key="id")


_LAYOUTS: dict[str, Callable[[VectorStore], KnowledgeSearchPort]] = {
    "native": _native,
    "spring": _spring,
    "sdk": _sdk,
}
