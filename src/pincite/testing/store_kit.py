"""Rows, collections and reads for the tests of stores."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pyarrow as pa

from pincite.identity import chunk_key, text_sha256
from pincite.schemas.owner import NOBODY
from pincite.schemas.rows import rows_contract
from pincite.store.filters import Filter
from pincite.store.port import CollectionSpec, TextQuery, VectorQuery
from pincite.store.registry import Store
from pincite.writing.terms import row_terms

OpenStore = Callable[[], Store]
Scenario = Callable[[Store, str], Awaitable[None]]

DIM = 8
SPEC = CollectionSpec(dim=DIM, scope_columns=("user_id",))
HARD_TEXT = 'Zitat: "so\\n", l\'été\t😀 \u2028 {x} % \x00 \r\n 中文 \ufeff'
_numbers = itertools.count(1)


def unit(angle: float) -> list[float]:
    """A vector of length 1 in ``DIM`` dimensions whose cosine with ``unit(0)`` is cos(angle)."""
    return [float(np.cos(angle)), float(np.sin(angle)), *[0.0] * (DIM - 2)]


def row(doc_id: str, chunk_index: int, **values: Any) -> dict[str, Any]:
    """One row of the rows table, with plausible values where none are given."""
    key = chunk_key(doc_id, chunk_index)
    content = str(values.get("content", f"Text {chunk_index} of {doc_id}."))
    plain = {
        "vector_id": key, "evidence_key": key, "doc_id": doc_id, "doc_version": 1,
        "chunk_index": chunk_index, "kb_scope": "", "category": "", "source": f"docs/{doc_id}",
        "title": f"Title of {doc_id}", "heading": "A > B", "content": content,
        "content_sha256": text_sha256(content), "terms": row_terms("", "", content),
        "char_start": 0, "char_end": len(content),
        "tokens": 3, "metadata": "{}", "embedding": unit(chunk_index / 10), **NOBODY,
    }  # fmt: skip
    return plain | values


def table(*rows: dict[str, Any]) -> pa.Table:
    """The rows as a conformed table."""
    return rows_contract(DIM).from_rows(rows)


def document(doc_id: str, chunks: int, **values: Any) -> pa.Table:
    """All rows of one document."""
    return table(*(row(doc_id, index, **values) for index in range(chunks)))


def on_store(open_store: OpenStore, scenario: Scenario, spec: CollectionSpec = SPEC) -> None:
    """Run the scenario on a new client with a new, empty collection; drop and close after."""

    async def run() -> None:
        store = open_store()
        collection = f"suite_{next(_numbers)}"
        try:
            await store.create(collection, spec)
            await scenario(store, collection)
            await store.drop(collection)
        finally:
            await store.close()

    asyncio.run(run())


async def keys_of(store: Store, collection: str, filter: Filter | None, **kwargs: Any) -> list[str]:
    """The keys of a scan, in the order they came."""
    pages = [page async for page in store.scan(collection, filter, ["doc_id"], **kwargs)]
    return [key for page in pages for key in page["vector_id"].to_pylist()]


async def search_until(
    store: Store, collection: str, query: VectorQuery | TextQuery, expected: int
) -> list[Any]:
    """The hits once all rows are visible: a Bounded search may lag behind the writes."""
    for _ in range(50):
        hits = await store.search(collection, query)
        if len(hits) >= expected:
            return hits
        await asyncio.sleep(0.1)
    raise AssertionError(f"{expected} rows did not become searchable in 5 s.")
