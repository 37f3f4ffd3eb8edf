"""Store: upsert the rows, read them back, and trim what is older."""

from __future__ import annotations

import asyncio

import pyarrow as pa

from pincite.errors import StoreUnreachable, WriteUnconfirmed
from pincite.schemas.keys import KEYS
from pincite.schemas.notices import NOTICES, failure
from pincite.store.filters import In
from pincite.wiring import current_workspace
from pincite.writing.tables import ReadBack, only, rows_of, without
from pincite.writing.target import Target

FIRST_VERSION = 1

Row = tuple[str, str, int]
"""Key, document and version of a row in the store."""


async def upsert(target: Target, rows: pa.Table) -> int:
    """Write the rows; writing them again changes nothing. Returns how many."""
    workspace = current_workspace()
    written: int = await workspace.store.upsert(target.collection, rows)
    workspace.report("written", rows.num_rows)
    return written


async def read_back(target: Target, drafts: pa.Table, rows: pa.Table) -> ReadBack:
    """A Strong read: is every expected (key, version) there, and what is older than it?

    A document's first version cannot have older rows, so its rows are read by key: a filter
    makes Milvus Lite look at every row that is not flushed yet.
    """
    ids, numbers = drafts["doc_id"].to_pylist(), drafts["doc_version"].to_pylist()
    versions: dict[str, int] = dict(zip(ids, numbers, strict=True))
    rewritten = [doc_id for doc_id, version in versions.items() if version > FIRST_VERSION]
    first = without(rows, rewritten)["vector_id"].to_pylist()
    by_key, by_document = await asyncio.gather(
        _rows_by_key(target.collection, first), _rows_of(target.collection, rewritten)
    )
    in_store = [*by_key, *by_document]
    missing = _missing(rows, {(key, version) for key, _, version in in_store})
    stale = [
        {"vector_id": key, "doc_id": doc_id}
        for key, doc_id, version in in_store
        if version < versions[doc_id] and doc_id not in missing
    ]
    lost = rows_of(only(drafts, missing))
    return ReadBack(
        KEYS.from_rows(stale),
        NOTICES.from_rows(
            failure(row["doc_id"], row["source"], _unconfirmed(row["doc_id"])) for row in lost
        ),
    )


def _missing(rows: pa.Table, found: set[tuple[str, int]]) -> set[str]:
    expected = zip(
        rows["vector_id"].to_pylist(),
        rows["doc_version"].to_pylist(),
        rows["doc_id"].to_pylist(),
        strict=True,
    )
    return {doc_id for key, version, doc_id in expected if (key, version) not in found}


def _unconfirmed(doc_id: str) -> WriteUnconfirmed:
    return WriteUnconfirmed(f"The store does not hold every row of {doc_id!r} that was written.")


async def _rows_by_key(collection: str, keys: list[str]) -> list[Row]:
    if not keys:
        return []
    found = await current_workspace().store.get(collection, keys, ["doc_id", "doc_version"])
    return _as_rows(found)


async def _rows_of(collection: str, doc_ids: list[str]) -> list[Row]:
    if not doc_ids:
        return []
    wanted, columns = In("doc_id", tuple(doc_ids)), ["doc_id", "doc_version"]
    pages = current_workspace().store.scan(collection, wanted, columns)
    return [row async for page in pages for row in _as_rows(page)]


def _as_rows(table: pa.Table) -> list[Row]:
    columns = (table[name].to_pylist() for name in ("vector_id", "doc_id", "doc_version"))
    return list(zip(*columns, strict=True))


async def trim(target: Target, stale: pa.Table) -> int:
    """Delete these rows and confirm that they are gone. Returns how many.

    Raises:
        StoreUnreachable: Some are still there; the same call may be tried again.
    """
    store, keys = current_workspace().store, stale["vector_id"].to_pylist()
    await store.delete(target.collection, ids=keys)
    left = await store.get(target.collection, keys, ["doc_id"])
    if left.num_rows:
        raise StoreUnreachable(
            f"{left.num_rows} deleted rows of {target.collection!r} are still there.",
            "Run the command again.",
        )
    return len(keys)


async def rows_of_documents(target: Target, doc_ids: list[str]) -> pa.Table:
    """The keys of every row that the store holds of these documents."""
    rows = await _rows_of(target.collection, doc_ids)
    return KEYS.from_rows({"vector_id": key, "doc_id": doc_id} for key, doc_id, _ in rows)


async def flush(target: Target) -> None:
    """Make what was written quick to search; Milvus Lite needs it."""
    await current_workspace().store.flush(target.collection)
