"""What the steps of the write pipeline hand on, and small questions to those tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pincite.schemas.notices import FAILURE, NOTICES


class Compared(NamedTuple):
    """Documents to write, outcomes of those to leave, and conflicts."""

    changed: pa.Table
    outcomes: pa.Table
    notices: pa.Table


class Chunked(NamedTuple):
    """Chunks of the documents that could be cut, and notices of the others."""

    chunks: pa.Table
    notices: pa.Table


class Journalled(NamedTuple):
    """Drafts with their new version, their chunks with it, and who was busy."""

    drafts: pa.Table
    chunks: pa.Table
    notices: pa.Table


class Cost(NamedTuple):
    """Texts that were embedded, texts that needed no embedding, tokens that were embedded."""

    computed: int = 0
    cached: int = 0
    tokens: int = 0


class Embedded(NamedTuple):
    """Rows with vectors, notices, and what the vectors cost."""

    rows: pa.Table
    notices: pa.Table
    cost: Cost


class Checked(NamedTuple):
    """Rows that the identity gate lets through, notices, and what each rule found."""

    rows: pa.Table
    notices: pa.Table
    quality: pa.Table


class ReadBack(NamedTuple):
    """Rows to trim, and documents whose new rows are not there."""

    stale: pa.Table
    notices: pa.Table


class Removed(NamedTuple):
    """Outcomes of removed documents, and notices of those that were busy."""

    outcomes: pa.Table
    notices: pa.Table


class Restored(NamedTuple):
    """Documents to write again, ids to remove, and what could not be restored."""

    documents: pa.Table
    removals: list[str]
    notices: pa.Table


def failed_ids(*notices: pa.Table) -> set[str]:
    """Documents that fail, by any of the tables."""
    found: set[str] = set()
    for table in notices:
        found.update(table.filter(pc.equal(table["severity"], FAILURE))["doc_id"].to_pylist())
    return found


def without(table: pa.Table, doc_ids: Iterable[str]) -> pa.Table:
    """The rows of all other documents."""
    doc_ids = list(doc_ids)
    if not doc_ids:
        return table
    return table.filter(pc.invert(pc.is_in(table["doc_id"], pa.array(doc_ids, pa.string()))))


def only(table: pa.Table, doc_ids: Iterable[str]) -> pa.Table:
    """The rows of these documents."""
    return table.filter(pc.is_in(table["doc_id"], pa.array(list(doc_ids), pa.string())))


def joined(tables: Iterable[pa.Table]) -> pa.Table:
    """Notices of several steps as one table."""
    given = list(tables)
    return pa.concat_tables(given) if given else NOTICES.empty()


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """The table's rows as dicts; for tables without vectors."""
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
