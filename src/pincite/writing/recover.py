"""Recover: what a killed writer left half done, and no source brought again, is put right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pyarrow as pa

from pincite.catalog.journal import REMOVE, Pending
from pincite.documents.record import document_of
from pincite.errors import PinciteError
from pincite.schemas.documents import DOCUMENTS
from pincite.schemas.notices import NOTICES, failure
from pincite.wiring import Workspace, current_workspace
from pincite.writing.tables import Restored
from pincite.writing.target import Target


async def restore(target: Target) -> Restored:
    """What was left half done, to be finished: documents to write, and documents to remove.

    Documents come from the kept text of the version that was being written. One whose kept text
    is lost stays open in the journal and is reported.
    """
    return await asyncio.to_thread(_restored, current_workspace(), target, _newest)


async def roll_back(target: Target) -> Restored:
    """What could not be finished, to be taken back: the stamped versions, again as new ones.

    A document that has no stamped version is to be removed.
    """
    return await asyncio.to_thread(_restored, current_workspace(), target, _stamped)


Choose = Callable[[Workspace, Target, Pending], int]
"""The version to write again; 0 to remove the document."""


def _newest(workspace: Workspace, target: Target, pending: Pending) -> int:
    return 0 if pending.operation == REMOVE else pending.version


def _stamped(workspace: Workspace, target: Target, pending: Pending) -> int:
    held = workspace.catalog.documents.held(target.corpus, target.generation, [pending.doc_id])
    return held[pending.doc_id].version if pending.doc_id in held else 0


def _restored(workspace: Workspace, target: Target, choose: Choose) -> Restored:
    documents, removals, notices = [], [], []
    for pending in workspace.catalog.journal.left_open(target.writer):
        number = choose(workspace, target, pending)
        if not number:
            removals.append(pending.doc_id)
            continue
        try:
            documents.append(_document(workspace, target.corpus, pending.doc_id, number))
        except PinciteError as error:
            notices.append(failure(pending.doc_id, pending.doc_id, error))
    return Restored(DOCUMENTS.from_rows(documents), removals, NOTICES.from_rows(notices))


def _document(workspace: Workspace, corpus: str, doc_id: str, number: int) -> dict[str, object]:
    version = workspace.catalog.documents.version(corpus, doc_id, number)
    if version is None:
        raise RuntimeError(f"version {number} of {doc_id!r} is not on record")
    text = workspace.texts.of(corpus).get(version.text_digest)
    return document_of(doc_id, version.record, text, version.text_digest, version.raw_sha256)


def in_parts(documents: pa.Table, size: int) -> list[pa.Table]:
    """The documents in batches of at most ``size``."""
    return [documents.slice(start, size) for start in range(0, documents.num_rows, size)]
