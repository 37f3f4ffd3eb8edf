"""A small corpus written by hand: real catalogue, kept texts and store, chunks as the test says.

Every stage of the writing of a document can be done alone, so that a test can stop between two.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from pincite.catalog.catalog import Catalog
from pincite.catalog.documents import EMPTY, INDEXED, Stamp
from pincite.catalog.journal import Draft, LedgerRow
from pincite.catalog.leases import Writer
from pincite.documents.kept import KeptTexts
from pincite.embedding.hash import HashEmbedder
from pincite.embedding.port import Embedder
from pincite.identity import chunk_key, text_sha256
from pincite.recipe import Recipe
from pincite.schemas.owner import NOBODY
from pincite.schemas.rows import rows_contract
from pincite.store.filters import Eq
from pincite.store.memory import MemoryStore
from pincite.store.port import CollectionSpec, VectorStore
from pincite.writing.terms import row_terms

_RECORD: dict[str, Any] = {
    "source": "",
    "source_name": "",
    "kb_scope": "",
    "category": "",
    "title": "",
    "summary": "",
    "keywords": [],
    "tags": [],
    "aliases": [],
    "metadata": {},
    "reader": "test/1",
}


@dataclass(frozen=True)
class Opened:
    """A journalled version of one document with the rows it will have in the store."""

    draft: Draft
    version: int
    rows: tuple[dict[str, Any], ...]


class SmallCorpus:
    """One corpus with one generation, all of it below ``folder``."""

    def __init__(
        self,
        folder: Path,
        corpus: str = "docs",
        *,
        store: VectorStore | None = None,
        embedder: Embedder | None = None,
        catalog: Catalog | None = None,
    ) -> None:
        self.catalog = catalog or Catalog(f"sqlite:///{folder / 'catalog.sqlite'}")
        self.texts = KeptTexts(str(folder / "texts"))
        self.store: Any = store or MemoryStore()
        self.embedder: Embedder = embedder or HashEmbedder()
        self.corpus = corpus
        self.collection = f"pincite_{corpus}_g1"
        self.writer = Writer(corpus, 1, owner="test", fence=0, ttl_ms=60_000)

    async def create(self) -> SmallCorpus:
        """Make the collection and the live generation."""
        info = self.embedder.info
        await self.store.create(self.collection, CollectionSpec(info.dim))
        recipe = Recipe("by-hand/1", 400, 80, info.space.id, info.dim)
        self.catalog.generations.add_first(self.corpus, 1, self.collection, recipe)
        return self

    async def write(self, doc_id: str, chunks: Sequence[str], **record: Any) -> Opened:
        """Journal, upsert, trim and stamp a document that is these chunks, a line end between."""
        text = "\n".join(chunks)
        opened = self.open(doc_id, text, spans_of(chunks), **record)
        await self.upsert(opened)
        await self.trim(opened)
        self.stamp(opened)
        return opened

    def open(
        self, doc_id: str, text: str, spans: Sequence[tuple[int, int]], **record: Any
    ) -> Opened:
        """Keep the text and journal the document's next version."""
        about = {**_RECORD, "source": doc_id, **record}
        raw = about.pop("raw_sha256", text_sha256(text))
        draft = Draft(doc_id, self.texts.put(text), raw, json.dumps(about))
        rows = [_row(doc_id, about, text, index, span) for index, span in enumerate(spans)]
        opened = self.catalog.journal.open_writes(self.writer, [draft], [_ledger(r) for r in rows])
        version = opened.versions[doc_id]
        return Opened(draft, version, tuple({**row, "doc_version": version} for row in rows))

    async def upsert(self, opened: Opened) -> None:
        """Bring the rows into the store."""
        await self.upsert_rows(opened.rows)

    async def upsert_rows(self, rows: Sequence[dict[str, Any]]) -> None:
        """Bring rows into the store, whatever they say."""
        if rows:
            await self.store.upsert(self.collection, await self.table(rows))

    async def table(self, rows: Sequence[dict[str, Any]]) -> pa.Table:
        """The rows as a table of ``schemas.rows``, with the vectors of their contents.

        A row that does not bring its terms has those of what it says.
        """
        vectors = await self.embedder.embed([row["content"] for row in rows], "add")
        contract = rows_contract(self.embedder.info.dim)
        return contract.from_rows(
            {"terms": _terms(row), **NOBODY, **row, "embedding": vector}
            for row, vector in zip(rows, vectors, strict=True)
        )

    async def trim(self, opened: Opened) -> None:
        """Delete the document's rows of older versions."""
        old = [
            row["vector_id"]
            for row in await self.rows(opened.draft.doc_id)
            if row["doc_version"] < opened.version
        ]
        await self.store.delete(self.collection, ids=old)

    def stamp(self, opened: Opened) -> None:
        """Say in the catalogue that the document is written."""
        digests = "\n".join(row["content_sha256"] for row in opened.rows)
        stamp = Stamp(
            doc_id=opened.draft.doc_id,
            version=opened.version,
            fingerprint=text_sha256(opened.draft.record + opened.draft.text_digest),
            chunk_count=len(opened.rows),
            digest=text_sha256(digests),
            state=INDEXED if opened.rows else EMPTY,
            text_digest=opened.draft.text_digest,
            record=opened.draft.record,
        )
        self.catalog.documents.stamp(self.writer, [stamp])

    async def remove(self, doc_id: str) -> None:
        """Take the document out of the store and the catalogue; the ledger keeps it."""
        self.catalog.journal.open_removals(self.writer, [doc_id])
        await self.store.delete(self.collection, filter=Eq("doc_id", doc_id))
        self.catalog.documents.stamp_removed(self.writer, [doc_id])

    async def rows(self, doc_id: str) -> list[dict[str, Any]]:
        """The document's rows as the store has them."""
        columns = ["doc_version", "chunk_index", "content"]
        pages = self.store.scan(self.collection, Eq("doc_id", doc_id), columns)
        return [row async for page in pages for row in page.to_pylist()]


def spans_of(chunks: Sequence[str]) -> list[tuple[int, int]]:
    """Where the chunks stand in their text when one character is between two."""
    spans, start = [], 0
    for chunk in chunks:
        spans.append((start, start + len(chunk)))
        start += len(chunk) + 1
    return spans


def _row(
    doc_id: str, record: dict[str, Any], text: str, index: int, span: tuple[int, int]
) -> dict[str, Any]:
    content = text[slice(*span)]
    key = chunk_key(doc_id, index)
    return {
        "vector_id": key,
        "evidence_key": key,
        "doc_id": doc_id,
        "chunk_index": index,
        **{name: record[name] for name in ("kb_scope", "category", "source", "title")},
        "heading": "",
        "content": content,
        "content_sha256": text_sha256(content),
        "char_start": span[0],
        "char_end": span[1],
        "tokens": len(content.split()),
        "metadata": "{}",
        **NOBODY,
    }


def _terms(row: dict[str, Any]) -> str:
    return row_terms(row["title"], row["heading"], row["content"])


def _ledger(row: dict[str, Any]) -> LedgerRow:
    return LedgerRow(**{name: row[name] for name in LedgerRow.__dataclass_fields__})
