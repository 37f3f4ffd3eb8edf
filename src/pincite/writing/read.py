"""Read: files become documents, or lines of files items that are accepted."""

from __future__ import annotations

import asyncio

import pyarrow as pa

from pincite.corpora.port import FileCorpus, ItemCorpus, Read
from pincite.wiring import current_workspace
from pincite.writing.items import Take, accept, as_accepted, read_items


async def read(corpus: str, files: pa.Table) -> Read:
    """The documents of these files, in order; what cannot be read fails alone.

    Items are accepted with this.
    """
    return await _read(corpus, files, accept)


async def peek(corpus: str, files: pa.Table) -> Read:
    """The same, and nothing is accepted."""
    return await _read(corpus, files, as_accepted)


async def _read(corpus: str, files: pa.Table, take: Take) -> Read:
    workspace = current_workspace()
    adapter = workspace.corpora[corpus]
    if isinstance(adapter, ItemCorpus):
        return await asyncio.to_thread(read_items, workspace, adapter, files, take)
    assert isinstance(adapter, FileCorpus)
    return await asyncio.to_thread(adapter.build_ingest_documents, files)
