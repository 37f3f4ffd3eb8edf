"""Recover: what a killed writer left half done, and no source brought again, is put right."""

from __future__ import annotations

import asyncio

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
    """Documents to write again, from their kept texts, and documents to remove for good.

    A document whose kept text is lost stays open in the journal and is reported.
    """
    return await asyncio.to_thread(_restore, current_workspace(), target)


def _restore(workspace: Workspace, target: Target) -> Restored:
    documents, removals, notices = [], [], []
    for pending in workspace.catalog.journal.left_open(target.writer):
        if pending.operation == REMOVE:
            removals.append(pending.doc_id)
            continue
        try:
            documents.append(_document(workspace, target.corpus, pending))
        except PinciteError as error:
            notices.append(failure(pending.doc_id, pending.doc_id, error))
    return Restored(DOCUMENTS.from_rows(documents), removals, NOTICES.from_rows(notices))


def _document(workspace: Workspace, corpus: str, pending: Pending) -> dict[str, object]:
    version = workspace.catalog.documents.version(corpus, pending.doc_id, pending.version)
    if version is None:
        raise RuntimeError(f"journal row of {pending.doc_id!r} without its version")
    text = workspace.texts.get(version.text_digest)
    return document_of(
        pending.doc_id, version.record, text, version.text_digest, version.raw_sha256
    )


def in_parts(documents: pa.Table, size: int) -> list[pa.Table]:
    """The documents in batches of at most ``size``."""
    return [documents.slice(start, size) for start in range(0, documents.num_rows, size)]
