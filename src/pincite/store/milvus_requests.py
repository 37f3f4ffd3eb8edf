"""What is sent to Milvus: expressions, search arguments, pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pincite.errors import RequestInvalid, StoreRejected
from pincite.store.filters import Filter, In, folded, render
from pincite.store.layout import Layout
from pincite.store.port import VectorQuery

if TYPE_CHECKING:
    from pymilvus import AsyncMilvusClient

IDS_PER_CALL = 10_000
# A server sends at most 64 MB at once; content, terms and metadata may take 64 KB each.
HEAVY = frozenset({"content", "terms", "metadata", "embedding"})
HEAVY_PAGE = 450
LEAST_EF = 256
GREATEST_EF = 32_768
NPROBE = 128


def expression(filter: Filter | None) -> str | None:
    """The filter as an expression, ``""`` for every row, ``None`` where no row can match."""
    simple = folded(filter)
    if isinstance(simple, bool):
        return "" if simple else None
    return render(simple)


def key_filters(layout: Layout, ids: Sequence[str]) -> list[Filter]:
    """Filters that together ask for these keys, each short enough for one call."""
    unique = list(dict.fromkeys(ids))
    return [
        In(layout.key, tuple(unique[start : start + IDS_PER_CALL]))
        for start in range(0, len(unique), IDS_PER_CALL)
    ]


def search_arguments(layout: Layout, query: VectorQuery, max_limit: int) -> dict[str, Any]:
    """Keyword arguments of one search by vector, without filter, timeout and consistency.

    Raises:
        RequestInvalid: The limit is out of range.
        StoreRejected: The vector has another dimension, or a column is not there.
    """
    check_limit(query.limit, max_limit)
    vector = np.asarray(query.vector, dtype=np.float32)
    if vector.shape != (layout.dim,):
        raise StoreRejected(
            f"The query's vector has shape {vector.shape}, the collection holds {layout.dim} "
            "values per vector.",
            "Embed the query with the embedder of this generation.",
        )
    return {
        "data": [vector.tolist()],
        "anns_field": layout.vector,
        "limit": query.limit,
        "output_fields": field_names(layout, query.columns),
        "search_params": {"metric_type": layout.metric, "params": _effort(layout, query.limit)},
    }


def _effort(layout: Layout, limit: int) -> dict[str, int]:
    """How far a search looks.

    HNSW visits ``ef`` neighbours: at 20,000 rows on a server, 64 missed the best row of 3 queries
    in 100, 256 of none, for about a millisecond more. An inverted index looks into ``nprobe`` of
    its lists, by default into about ten, which missed six in ten of the nearest rows in a
    collection that Spring AI's defaults had made.
    """
    if layout.index == "HNSW":
        return {"ef": max(LEAST_EF, min(8 * limit, GREATEST_EF))}
    if layout.index.startswith("IVF_"):
        return {"nprobe": min(layout.lists or NPROBE, NPROBE)}
    return {}


def text_arguments(
    layout: Layout, texts: Sequence[str], limit: int, columns: Sequence[str]
) -> dict[str, Any]:
    """Keyword arguments of searches by words, without filter, timeout and consistency.

    Raises:
        FullTextUnsupported: The collection has no full-text index.
        StoreRejected: A column is not there.
    """
    return {
        "data": list(texts),
        "anns_field": layout.require_text().field,
        "limit": limit,
        "output_fields": field_names(layout, columns),
        "search_params": {"metric_type": "BM25", "params": {}},
    }


def field_names(layout: Layout, columns: Sequence[str]) -> list[str]:
    """The store's names of these columns, each once."""
    return list(dict.fromkeys(layout.column(name).name for name in columns))


def check_limit(limit: int, max_limit: int) -> None:
    """Refuse a search for no hit or for more than a store gives at once.

    Raises:
        RequestInvalid: The limit is out of range.
    """
    if not 1 <= limit <= max_limit:
        raise RequestInvalid(f"A search asks for {limit} hits, allowed are 1 to {max_limit}.")


def page_rows(page: int, columns: Sequence[str], max_limit: int) -> int:
    """Rows per page: what is asked for, within what the store answers in one go."""
    if page < 1:
        raise RequestInvalid(f"A scan asks for pages of {page} rows.")
    size = min(page, max_limit)
    return min(size, HEAVY_PAGE) if HEAVY.intersection(columns) else size


def last_key(layout: Layout, rows: Sequence[Mapping[str, Any]]) -> str:
    """The key after which the next page starts.

    Raises:
        StoreRejected: The page is not in key order, so that paging by key would lose rows.
    """
    keys = [str(row[layout.key]) for row in rows]
    if any(left >= right for left, right in pairwise(keys)):
        raise StoreRejected("The store does not give rows in key order; a scan would lose some.")
    return keys[-1]


def upsert_call(collection: str, request: Any) -> Callable[[AsyncMilvusClient, float], Any]:
    """A call that sends a ready ``UpsertRequest`` and returns how many rows were written.

    The client's own ``upsert`` takes rows as dicts only, so the request goes to the handler
    below it, which takes one ready made.
    """

    async def work(client: AsyncMilvusClient, left: float) -> int:
        handler = await client._get_connection()
        context = client._generate_call_context()
        result = await handler.upsert(
            collection, [], upsert_param=request, timeout=left, context=context
        )
        return int(result.upsert_count)

    return work
