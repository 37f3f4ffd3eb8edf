"""The ports to the vector store: rows of one collection, and the collections themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import pyarrow as pa

from pincite.store.filters import Filter


class Mode(StrEnum):
    """Which legs a search runs."""

    DENSE = "dense"
    LEXICAL = "lexical"
    HYBRID = "hybrid"


@dataclass(frozen=True)
class Capabilities:
    """What a store can do, as data; every path that needs one states what happens without it."""

    full_text: bool
    max_limit: int
    # What splits the words of a row for full text; the words have no blank inside.
    tokenizer: str = ""
    # Whether full text weighs words by how rare they are in one segment, not in the collection.
    segment_scores: bool = False
    # Whether the parameters of an index are read from one JSON value, and else passed over.
    nested_index_params: bool = False
    # Whether a query with a limit gives rows in key order without being asked.
    query_in_key_order: bool = True
    # The index of the vectors. On Milvus Lite HNSW does not reach every row, most of all with a
    # filter or with vectors that are alike, and looking at every row is no slower there.
    vector_index: str = "HNSW"
    # The index that makes reads by ``doc_id`` faster, "" where none does.
    scalar_index: str = ""


@dataclass(frozen=True)
class CollectionSpec:
    """What a generation's collection looks like: vector width and the corpus's own columns.

    ``scope_columns`` hold text, ``number_columns`` whole numbers. It has full text wherever the
    store can.
    """

    dim: int
    scope_columns: tuple[str, ...] = ()
    number_columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class VectorQuery:
    """One dense search.

    ``vector`` is ``(dim,) float32``; ``columns`` are the columns that come back with a hit.
    """

    vector: Sequence[float]
    limit: int
    filter: Filter | None = None
    columns: tuple[str, ...] = ()
    timeout_s: float | None = None


@dataclass(frozen=True)
class TextQuery:
    """One full-text search by BM25.

    ``terms`` are analysed words joined by single spaces (``pincite.analysis``), the form in
    which rows hold theirs; without any there are no hits.
    """

    terms: str
    limit: int
    filter: Filter | None = None
    columns: tuple[str, ...] = ()
    timeout_s: float | None = None


@dataclass(frozen=True)
class Hit:
    """One row found by a search; higher scores are better, of the two the other is ``None``.

    ``similarity`` is a cosine in [-1, 1], ``lexical`` a BM25 score above 0; ``raw_score`` is
    what the store said.
    """

    vector_id: str
    similarity: float | None
    lexical: float | None
    raw_score: float
    columns: Mapping[str, Any]


class VectorStore(Protocol):
    """The rows of collections, by key, filter or vector.

    All times are seconds. Reads are Strong where ``strong=True``: they see every write that was
    acknowledged before. ``upsert`` is idempotent by key and takes a table of
    ``pincite.schemas.rows``; keys are unique in one call.

    Raises:
        StoreUnreachable, StoreLocked, StoreRejected.
    """

    @property
    def capabilities(self) -> Capabilities: ...

    async def upsert(
        self, collection: str, rows: pa.Table, timeout_s: float | None = None
    ) -> int: ...

    async def search(self, collection: str, query: VectorQuery | TextQuery) -> list[Hit]:
        """At most ``limit`` hits, score descending, then key ascending.

        A row without any word of a ``TextQuery`` is no hit of it.

        Raises:
            FullTextUnsupported: The collection has no full-text index.
        """
        ...

    async def delete(
        self,
        collection: str,
        *,
        ids: Sequence[str] | None = None,
        filter: Filter | None = None,
        timeout_s: float | None = None,
    ) -> None:
        """Remove rows by key or by filter (exactly one of the two); absent rows are no error."""
        ...

    async def get(
        self,
        collection: str,
        ids: Sequence[str],
        columns: Sequence[str],
        timeout_s: float | None = None,
    ) -> pa.Table:
        """The rows with these keys that exist, Strong, with ``vector_id`` and ``columns``."""
        ...

    def scan(
        self,
        collection: str,
        filter: Filter | None,
        columns: Sequence[str],
        page: int = 10_000,
        strong: bool = True,
    ) -> AsyncIterator[pa.Table]:
        """Every matching row once, in pages of at most ``page`` rows, no order promised."""
        ...

    async def close(self) -> None: ...


class GenerationStore(Protocol):
    """The collections behind generations, and the alias that follows the live one."""

    async def create(self, collection: str, spec: CollectionSpec) -> None:
        """Create, index and load the collection; no error when it is there already."""
        ...

    async def exists(self, collection: str) -> bool: ...

    async def drop(self, collection: str) -> None:
        """Drop the collection; refused with StoreRejected while an alias points to it."""
        ...

    async def flush(self, collection: str) -> None:
        """Make written rows fast to search (Milvus Lite) and durable."""
        ...

    async def count(self, collection: str) -> int:
        """Rows now, Strong."""
        ...

    async def point_alias(self, alias: str, collection: str) -> None:
        """Create or move the alias, confirmed by describing it."""
        ...

    async def alias_target(self, alias: str) -> str | None: ...
