"""Proof that catalogue, store and kept texts say the same, or the list of where they do not.

Documents are compared in groups of bounded size, so that memory holds one group's keys and one
page of rows. What looks wrong is looked at twice: a document that was stamped between the two
reads is not a finding.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa

from pincite.catalog.catalog import Catalog
from pincite.catalog.database import slices
from pincite.catalog.documents import Indexed
from pincite.catalog.generations import Generation
from pincite.catalog.leases import Writer
from pincite.catalog.ledger import ExpectedChunk
from pincite.comparison import ROW_CONTENT, ROW_IDENTITY, Comparison, Findings
from pincite.documents.corpus_texts import TextsOf
from pincite.documents.record import OWNER
from pincite.scopes import level_columns, scope_columns
from pincite.store.filters import In
from pincite.store.port import VectorStore

GROUP_CHUNKS = 4_000
GROUP_DOCUMENTS = 500


@dataclass(frozen=True)
class CorpusVerification:
    """What was compared in one corpus (documents, chunks that must be there) and what was found."""

    documents: int
    chunks: int
    findings: Findings

    def as_dict(self) -> dict[str, Any]:
        return {"documents": self.documents, "chunks": self.chunks, **self.findings.as_dict()}


@dataclass(frozen=True)
class Verification:
    """The outcome for each corpus; ``ok`` when nothing was found in any."""

    corpora: dict[str, CorpusVerification]

    @property
    def ok(self) -> bool:
        return not any(one.findings for one in self.corpora.values())

    def as_dict(self) -> dict[str, Any]:
        corpora = {name: one.as_dict() for name, one in self.corpora.items()}
        return {"ok": self.ok, "corpora": corpora}

    def to_json(self) -> str:
        """One JSON document, characters as they are."""
        return json.dumps(self.as_dict(), ensure_ascii=False)


async def verify(
    catalog: Catalog, store: VectorStore, texts: TextsOf, corpora: Sequence[str] | None = None
) -> Verification:
    """Compare the live generation of each corpus, both directions; ``None``: all corpora.

    Raises:
        CorpusEmpty: A named corpus holds nothing yet.
        ServiceError: Catalogue, store or kept texts are out of reach.
    """
    names = corpora
    if names is None:
        names = await asyncio.to_thread(catalog.generations.corpora)
    found = {name: await _verify_corpus(catalog, store, texts, name) for name in names}
    return Verification(found)


async def _verify_corpus(
    catalog: Catalog, store: VectorStore, texts: TextsOf, corpus: str
) -> CorpusVerification:
    generation = await asyncio.to_thread(catalog.generations.require_live, corpus)
    check = _Check(catalog, store, texts, generation)
    findings = Findings(pending=await asyncio.to_thread(check.left_open))
    documents = chunks = 0
    async for group in check.groups():
        documents += sum(held.version > 0 for held in group)
        chunks += sum(held.chunk_count for held in group)
        findings.add(await check.documents([held.doc_id for held in group]))
    findings.add(await check.strangers())
    return CorpusVerification(documents, chunks, findings)


class _Check:
    """The comparisons of one generation."""

    def __init__(
        self, catalog: Catalog, store: VectorStore, texts: TextsOf, generation: Generation
    ) -> None:
        self._catalog = catalog
        self._store = store
        self._texts = texts
        self._corpus = generation.corpus
        self._number = generation.number
        self._collection = generation.collection

    def left_open(self) -> set[str]:
        """Documents that a writer left behind."""
        nobody = Writer(self._corpus, self._number, owner="", fence=0, ttl_ms=0)
        return {pending.doc_id for pending in self._catalog.journal.left_open(nobody)}

    async def groups(self) -> AsyncIterator[list[Indexed]]:
        """All documents, in groups of few enough chunks; a longer document is one of its own."""
        pages = self._catalog.documents.pages(self._corpus, self._number, GROUP_DOCUMENTS)
        while page := await asyncio.to_thread(next, pages, None):
            for group in _grouped(page):
                yield group

    async def documents(self, doc_ids: Sequence[str]) -> Findings:
        """Compare these documents; only what two looks agree to be wrong is looked into."""
        suspects = (await self._look(doc_ids)).suspects
        return (await self._look(sorted(suspects))).findings if suspects else Findings()

    async def _look(self, doc_ids: Sequence[str]) -> Comparison:
        comparison = await asyncio.to_thread(self._expect, doc_ids)
        filter = In("doc_id", tuple(doc_ids))
        columns = [*ROW_CONTENT, *scope_columns(self._corpus), *level_columns(self._corpus)]
        rows = self._store.scan(self._collection, filter, columns, page=GROUP_CHUNKS)
        async for page in rows:
            await asyncio.to_thread(comparison.compare, page.to_pylist())
        comparison.close()
        return comparison

    def _expect(self, doc_ids: Sequence[str]) -> Comparison:
        held = self._catalog.documents.held(self._corpus, self._number, doc_ids)
        expected = self._catalog.ledger.expected(self._corpus, self._number, doc_ids)
        owners = self._owners(held)
        comparison = Comparison(self._catalog, self._corpus, held, owners, expected)
        by_document = {doc_id: list(own) for doc_id, own in groupby(expected, _doc_id)}
        for doc_id, document in held.items():
            chunks = by_document.get(doc_id, [])
            comparison.check_numbering(document, chunks)
            comparison.check_text(chunks, self._texts.of(self._corpus))
        return comparison

    def _owners(self, held: Mapping[str, Indexed]) -> dict[str, dict[str, Any]]:
        """Whose each document is, where the documents of the corpus are somebody's."""
        if not scope_columns(self._corpus):
            return {}
        versions = {doc_id: one.version for doc_id, one in held.items()}
        records = self._catalog.documents.records(self._corpus, versions)
        return {doc_id: record.get(OWNER, {}) for doc_id, record in records.items()}

    async def strangers(self) -> Findings:
        """Rows whose document the catalogue does not know, by a scan of all rows."""
        findings = Findings()
        async for page in self._store.scan(self._collection, None, ROW_IDENTITY):
            unknown = await asyncio.to_thread(self._unknown, page)
            for part in slices(unknown):
                # Rows may have gone, and documents may have come, since the page was read.
                again = await self._store.get(self._collection, part, ROW_IDENTITY)
                findings.add(await asyncio.to_thread(self._strangers, again))
        return findings

    def _unknown(self, page: pa.Table) -> list[str]:
        rows = page.select(["vector_id", "doc_id"]).to_pylist()
        doc_ids = sorted({row["doc_id"] for row in rows if row["doc_id"]})
        held = self._catalog.documents.held(self._corpus, self._number, doc_ids)
        return [row["vector_id"] for row in rows if row["doc_id"] not in held]

    def _strangers(self, page: pa.Table) -> Findings:
        findings = Findings()
        unknown = set(self._unknown(page))
        for row in page.to_pylist():
            if row["vector_id"] not in unknown:
                continue
            doc_id = row["doc_id"]
            being_written = self._catalog.journal.open_versions(self._corpus, doc_id or "")
            if row["doc_version"] in being_written:
                findings.pending.add(doc_id)
            else:
                findings.orphaned.add(row["vector_id"])
        return findings


def _doc_id(chunk: ExpectedChunk) -> str:
    return chunk.doc_id


def _grouped(page: Sequence[Indexed]) -> Iterator[list[Indexed]]:
    group: list[Indexed] = []
    size = 0
    for held in page:
        if group and size + held.chunk_count > GROUP_CHUNKS:
            yield group
            group, size = [], 0
        group.append(held)
        size += held.chunk_count
    if group:
        yield group
