"""Read: files become documents."""

from __future__ import annotations

import asyncio

import pyarrow as pa

from pincite.corpora.port import Read
from pincite.corpora.registry import corpus_adapter


async def read(corpus: str, files: pa.Table) -> Read:
    """The documents of these files, in order; a file that cannot be read fails alone."""
    return await asyncio.to_thread(corpus_adapter(corpus).build_ingest_documents, files)
