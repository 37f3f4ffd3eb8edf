"""What one run did to each document."""

from typing import Any

import pyarrow as pa

from pincite.schemas.contract import Contract, Field

ADDED = "added"
UPDATED = "updated"
UNCHANGED = "unchanged"
EMPTY = "empty"
FAILED = "failed"
DELETED = "deleted"

OUTCOMES = Contract(
    name="outcomes",
    version=1,
    key=("doc_id",),
    fields=(
        Field("doc_id", pa.string(), "document"),
        Field("outcome", pa.string(), "added, updated, unchanged, empty, failed or deleted"),
        Field("written", pa.int64(), "chunks written to the store"),
        Field("unchanged", pa.int64(), "chunks left as they were"),
        Field("deleted", pa.int64(), "chunks removed from the store"),
    ),
)


def outcome(doc_id: str, name: str, **counts: int) -> dict[str, Any]:
    """One row; counts not given are 0."""
    return {"doc_id": doc_id, "outcome": name, "written": 0, "unchanged": 0, "deleted": 0, **counts}
