"""Store: upsert the rows, read them back, and trim what is older."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pyarrow as pa

from pincite.errors import StoreUnreachable, WriteUnconfirmed
from pincite.schemas.keys import KEYS
from pincite.schemas.notices import NOTICES
from pincite.store.filters import In
from pincite.wiring import current_workspace
from pincite.writing.tables import ReadBack, failure, only, rows_of
from pincite.writing.target import Target


async def upsert(target: Target, rows: pa.Table) -> int:
    """Write the rows; writing them again changes nothing. Returns how many."""
    workspace = current_workspace()
    written: int = await workspace.store.upsert(target.collection, rows)
    workspace.report("written", rows.num_rows)
    return written


async def read_back(target: Target, drafts: pa.Table, rows: pa.Table) -> ReadBack:
    """One Strong read: is every expected (key, version) there, and what is older than it?"""
    ids, numbers = drafts["doc_id"].to_pylist(), drafts["doc_version"].to_pylist()
    versions: dict[str, int] = dict(zip(ids, numbers, strict=True))
    found: set[tuple[str, int]] = set()
    stale: list[dict[str, str]] = []
    async for key, doc_id, version in _rows_in_store(target.collection, ids):
        found.add((key, version))
        if version < versions[doc_id]:
            stale.append({"vector_id": key, "doc_id": doc_id})
    missing = _missing(rows, found)
    return ReadBack(
        KEYS.from_rows(key for key in stale if key["doc_id"] not in missing),
        NOTICES.from_rows(
            failure(row["doc_id"], row["source"], _unconfirmed(row["doc_id"]))
            for row in rows_of(only(drafts, missing))
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


async def _rows_in_store(
    collection: str, doc_ids: list[str]
) -> AsyncIterator[tuple[str, str, int]]:
    store = current_workspace().store
    wanted = In("doc_id", tuple(doc_ids))
    async for page in store.scan(collection, wanted, ["doc_id", "doc_version"]):
        for row in rows_of(page):
            yield row["vector_id"], row["doc_id"], row["doc_version"]


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
    rows = [
        {"vector_id": key, "doc_id": doc_id}
        async for key, doc_id, _ in _rows_in_store(target.collection, doc_ids)
    ]
    return KEYS.from_rows(rows)


async def flush(target: Target) -> None:
    """Make what was written quick to search; Milvus Lite needs it."""
    await current_workspace().store.flush(target.collection)
