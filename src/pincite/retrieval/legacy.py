"""The legacy path: items straight from their SQL table, without vectors.

Memory comes by keyword and recency, web results in the order of the search engine. What comes is
citable all the same: each candidate is a chunk that the ledger knows. An item that was never
journalled has no key yet and is known by its rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from pincite.catalog.catalog import Catalog
from pincite.catalog.ledger import KnownChunk
from pincite.corpora.port import Item, ItemCorpus, Ranked
from pincite.documents.corpus_texts import Texts
from pincite.errors import NotFound
from pincite.identity import RANK_PREFIX, text_sha256
from pincite.retrieval.candidates import Candidate, to_table
from pincite.retrieval.request import LookupRequest

LEGACY = "LEGACY"
REASON = "legacy"
# Items of one owner that are looked at, the first by the table's order.
MOST_ITEMS = 1_000


def legacy_candidates(
    request: LookupRequest, adapter: ItemCorpus, catalog: Catalog, texts: Texts
) -> pa.Table:
    """The owner's items as ``schemas.candidates``, best first; blocks.

    Raises:
        CatalogUnreachable: There is no way to read them.
    """
    rows = catalog.items[request.corpus].of_owner(
        request.scope_ids(),
        MOST_ITEMS,
        order=adapter.legacy_order,
        kb_scope=request.kb_scope,
        excluded=request.exclude_scopes,
        max_sensitivity=request.max_sensitivity,
    )
    items = [Item(row, text) for row in rows if (text := _text(texts, row["text_digest"]))]
    ranked = adapter.legacy_rank(request.text, items)[: request.retrieve_k]
    by_id = {item.row["doc_id"]: item for item in items}
    chosen = [(one, by_id[one.row["doc_id"]]) for one in ranked]
    known = _chunks(catalog, request.corpus, [item for _, item in chosen])
    found = [
        candidate
        for rank, (one, item) in enumerate(chosen)
        for candidate in _candidates(request, adapter, one, item, known, rank)
    ]
    return to_table(found)


def _text(texts: Texts, digest: str) -> str | None:
    try:
        return texts.get(digest)
    except NotFound:
        return None


def _chunks(
    catalog: Catalog, corpus: str, items: list[Item]
) -> dict[tuple[str, str], list[KnownChunk]]:
    """The chunks of the items' texts as the ledger has them, by document and text."""
    live = catalog.generations.live(corpus)
    found: dict[tuple[str, str], list[KnownChunk]] = {}
    if live is None:
        return found
    doc_ids = [item.row["doc_id"] for item in items]
    for chunk in catalog.ledger.latest(corpus, live.number, doc_ids):
        found.setdefault((chunk.doc_id, chunk.text_digest), []).append(chunk)
    return found


def _candidates(
    request: LookupRequest,
    adapter: ItemCorpus,
    ranked: Ranked,
    item: Item,
    known: dict[tuple[str, str], list[KnownChunk]],
    rank: int,
) -> Iterator[Candidate]:
    document = adapter.build_ingest_document(item)
    chunks: Sequence[KnownChunk | None] = known.get(
        (item.row["doc_id"], item.row["text_digest"]), []
    )
    for chunk in chunks or [None]:
        start, end = (chunk.char_start, chunk.char_end) if chunk else (0, len(item.text))
        content = item.text[start:end]
        yield Candidate(
            evidence_key=chunk.evidence_key if chunk else f"{RANK_PREFIX}{rank}",
            corpus=request.corpus,
            generation=chunk.generation if chunk else None,
            doc_id=chunk.doc_id if chunk else None,
            chunk_index=chunk.chunk_index if chunk else None,
            vector_id=chunk.evidence_key if chunk else None,
            doc_version=chunk.version if chunk else None,
            source=document["source"],
            title=document["title"],
            heading="",
            content=content,
            char_start=start,
            char_end=end,
            content_sha256=text_sha256(content),
            kb_scope=document["kb_scope"],
            category=document["category"],
            original_rank=rank,
            hit_reasons=(REASON,),
            score=ranked.score,
            lexical=ranked.lexical,
            metadata=document["metadata"],
            expires_at=document["expires_at"],
        )
