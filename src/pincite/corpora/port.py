"""The ports of a corpus: how its input becomes documents, and how its candidates are sorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import pyarrow as pa


class Item(NamedTuple):
    """One item: its row of the corpus's table in the catalogue, and its text.

    The catalogue itself adds where the writing stands.
    """

    row: Mapping[str, Any]
    text: str


class Read(NamedTuple):
    """Documents that could be read, notices, and the attempts that failed.

    ``failed`` counts what failed before it had an identity, ``expired`` what had expired when it
    came; neither is among the attempts. ``items`` are the accepted ones that the documents are of.
    """

    documents: pa.Table
    notices: pa.Table
    attempts: pa.Table
    failed: int = 0
    expired: int = 0
    items: tuple[Item, ...] = ()


class CorpusAdapter(Protocol):
    """One corpus; ``suffixes`` are those of the files that it is ingested from.

    ``adjust`` gives candidates (``schemas.candidates``) their final score and priority; it drops
    none.
    """

    name: str

    @property
    def suffixes(self) -> frozenset[str]: ...

    def adjust(self, candidates: pa.Table) -> pa.Table: ...


@runtime_checkable
class FileCorpus(CorpusAdapter, Protocol):
    """A corpus of files, one document each.

    ``build_ingest_documents`` turns a table of what was found (``schemas.files``) into documents,
    in its order; what cannot be read fails alone, as a notice and an attempt.
    """

    def build_ingest_documents(self, found: pa.Table) -> Read: ...


class Ranked(NamedTuple):
    """An item on the legacy path, with the score that sorts, higher first.

    ``lexical`` is the share of the query's words that it holds, ``None`` = none of them.
    """

    row: Mapping[str, Any]
    score: float
    lexical: float | None = None


@runtime_checkable
class ItemCorpus(CorpusAdapter, Protocol):
    """A corpus of items that come one by one, each with its owner; files hold one item a line.

    ``parse`` checks what a client sends and derives its identity. ``build_ingest_document`` makes
    of an accepted item the row of ``schemas.documents``; the same item gives the same row.
    ``legacy_order`` are the columns by which the table is read for the legacy path, best first
    (``-`` = descending, ``+`` = ascending with 0 last), and ``legacy_rank`` orders what was read.
    """

    legacy_order: tuple[str, ...]

    def parse(self, value: Mapping[str, Any], kb_scope: str, now_ms: int) -> Item:
        """The item.

        Args:
            value: What a client sent, its owner's ids included.
            kb_scope: Isolation label, ``""`` = none.
            now_ms: Epoch ms, UTC, to reckon expiry from.

        Raises:
            ItemInvalid: A field is missing, unknown or not what it must be.
            ScopeRequired, ScopeInvalid: An id of its owner is missing, blank or too long.
        """
        ...

    def build_ingest_document(self, item: Item) -> dict[str, Any]: ...

    def legacy_rank(self, query: str, items: Sequence[Item]) -> list[Ranked]: ...
