"""Items: accepted in their table of the catalogue first, and from there into the store.

An item is safe once its row is written. Until the store holds it, it is ``PENDING``: whatever
fails on the way, a later write or ``maintain`` brings it home.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from pincite.catalog.database import now_ms
from pincite.catalog.items import FAILED, INDEXED, Row
from pincite.corpora.port import Item, ItemCorpus, Read
from pincite.errors import (
    DocumentBusy,
    ItemInvalid,
    NotFound,
    PinciteError,
    ReadFailed,
    WriteUnconfirmed,
)
from pincite.schemas import outcomes
from pincite.schemas.attempts import ATTEMPTS
from pincite.schemas.documents import DOCUMENTS
from pincite.schemas.notices import FAILURE, NOTICES, failure
from pincite.wiring import Workspace
from pincite.writing.tables import rows_of

_WRITTEN = frozenset({outcomes.ADDED, outcomes.UPDATED, outcomes.UNCHANGED, outcomes.EMPTY})
# What another try may well get over.
_TRANSIENT = frozenset({DocumentBusy.code, WriteUnconfirmed.code})


@dataclass(frozen=True)
class Accepted:
    """Items whose rows are written, and how many had expired when they came."""

    items: tuple[Item, ...]
    expired: int = 0


Take = Callable[[Workspace, str, Sequence[Item]], Accepted]


def accept(workspace: Workspace, corpus: str, items: Sequence[Item]) -> Accepted:
    """Write the items' texts and rows; what has expired is left out. Blocks.

    Of two with one identity the last counts.

    Raises:
        CatalogUnreachable, TextsUnreachable: Nothing is accepted.
    """
    texts = workspace.texts.of(corpus)
    alive = _alive(items)
    for item in alive.values():
        texts.put(item.text)
    rows = workspace.catalog.items[corpus].put([item.row for item in alive.values()])
    return _accepted(rows, alive, items)


def as_accepted(workspace: Workspace, corpus: str, items: Sequence[Item]) -> Accepted:
    """What ``accept`` would give; nothing is written. Blocks."""
    alive = _alive(items)
    rows = workspace.catalog.items[corpus].as_put([item.row for item in alive.values()])
    return _accepted(rows, alive, items)


def _alive(items: Sequence[Item]) -> dict[str, Item]:
    now = now_ms()
    return {i.row["doc_id"]: i for i in items if not 0 < i.row["expires_at"] <= now}


def _accepted(rows: Sequence[Row], alive: Mapping[str, Item], items: Sequence[Item]) -> Accepted:
    kept = tuple(Item(row, alive[row["doc_id"]].text) for row in rows)
    return Accepted(kept, sum(item.row["doc_id"] not in alive for item in items))


def documents_of(adapter: ItemCorpus, items: Iterable[Item]) -> pa.Table:
    """The items as ``schemas.documents``."""
    return DOCUMENTS.from_rows(adapter.build_ingest_document(item) for item in items)


def read_items(
    workspace: Workspace, adapter: ItemCorpus, parts: pa.Table, take: Take = accept
) -> Read:
    """Take the items of these parts of files; a bad line fails alone. Blocks."""
    items: list[Item] = []
    notices: list[dict[str, str]] = []
    for part in rows_of(parts):
        try:
            lines = list(_lines(part))
        except OSError as exc:
            error = ReadFailed(f"{part['source']!r} could not be read ({type(exc).__name__}).")
            notices.append(failure(part["source"], part["source"], error))
            continue
        for where, line in lines:
            try:
                items.append(adapter.parse(_object(line), part["kb_scope"], now_ms()))
            except PinciteError as error:
                notices.append(failure(where, where, error))
    accepted = take(workspace, adapter.name, items)
    return Read(
        documents_of(adapter, accepted.items),
        NOTICES.from_rows(notices),
        ATTEMPTS.empty(),
        failed=len(notices),
        expired=accepted.expired,
        items=accepted.items,
    )


def _lines(part: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Each line with what it is, and the place that a person finds it by."""
    with Path(part["path"]).open("rb") as file:
        file.seek(part["start"])
        data = file.read(part["size"])
    at = part["start"]
    for line in data.splitlines(keepends=True):
        if line.strip():
            yield f"{part['source']} at byte {at}", line
        at += len(line)


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as exc:
        raise ItemInvalid("The line is no JSON in UTF-8.") from exc
    if not isinstance(value, dict):
        raise ItemInvalid("The line is no JSON object.")
    return value


def pending_items(workspace: Workspace, corpus: str, limit: int) -> list[Item]:
    """What waits to be written, with its text; one whose text is lost is settled as failed."""
    items, texts = workspace.catalog.items[corpus], workspace.texts.of(corpus)
    found: list[Item] = []
    for row in items.pending(limit):
        try:
            found.append(Item(row, texts.get(row["text_digest"])))
        except NotFound as error:
            items.settle([row], FAILED, error.code)
    return found


@dataclass
class Settling:
    """What was accepted and is under way; says in the catalogue how it ended."""

    workspace: Workspace
    corpus: str
    _rows: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    indexed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)

    def expect(self, items: Iterable[Item]) -> None:
        """These are being written, each as its row says."""
        self._rows.update((item.row["doc_id"], item.row) for item in items)

    def settle(self, outcome_tables: Iterable[pa.Table], notices: Iterable[pa.Table]) -> None:
        """What a batch did: written items are ``INDEXED``, refused ones ``FAILED``. Blocks."""
        done = [
            row["doc_id"]
            for table in outcome_tables
            for row in rows_of(table)
            if row["outcome"] in _WRITTEN
        ]
        refused = {
            row["doc_id"]: row["code"]
            for table in notices
            for row in rows_of(table)
            if row["severity"] == FAILURE and row["code"] not in _TRANSIENT
        }
        items = self.workspace.catalog.items[self.corpus]
        items.settle(self._take(done), INDEXED)
        for doc_id, code in refused.items():
            items.settle(self._take([doc_id]), FAILED, code)
        self.indexed.update(done)
        self.failed.update(refused)

    def _take(self, doc_ids: Iterable[str]) -> list[Mapping[str, Any]]:
        found = (self._rows.pop(doc_id, None) for doc_id in doc_ids)
        return [row for row in found if row is not None]
