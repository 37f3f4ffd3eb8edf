"""The steps that the pipelines are written over, and the plain functions that they are.

A flow hands Prefect tasks of the same names instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pyarrow as pa

from pincite.corpora.port import Read
from pincite.writing.check import check
from pincite.writing.chunk import chunk
from pincite.writing.compare import compare
from pincite.writing.discover import discover
from pincite.writing.embed import embed
from pincite.writing.found import Discovered
from pincite.writing.journal import journal
from pincite.writing.read import read
from pincite.writing.recover import restore, roll_back
from pincite.writing.remove import remove
from pincite.writing.request import IngestRequest
from pincite.writing.stamp import fail, stamp
from pincite.writing.store import flush, read_back, trim, upsert
from pincite.writing.tables import (
    Checked,
    Chunked,
    Compared,
    Embedded,
    Journalled,
    ReadBack,
    Removed,
    Restored,
)
from pincite.writing.target import Target


@dataclass(frozen=True)
class WriteSteps:
    """Steps of the write pipeline; each takes values and tables and returns tables."""

    compare: Callable[[Target, pa.Table], Awaitable[Compared]] = compare
    chunk: Callable[[pa.Table], Awaitable[Chunked]] = chunk
    journal: Callable[[Target, pa.Table, pa.Table], Awaitable[Journalled]] = journal
    embed: Callable[[Target, pa.Table], Awaitable[Embedded]] = embed
    check: Callable[[Target, pa.Table], Awaitable[Checked]] = check
    upsert: Callable[[Target, pa.Table], Awaitable[int]] = upsert
    read_back: Callable[[Target, pa.Table, pa.Table], Awaitable[ReadBack]] = read_back
    trim: Callable[[Target, pa.Table], Awaitable[int]] = trim
    stamp: Callable[[Target, pa.Table, pa.Table, pa.Table], Awaitable[pa.Table]] = stamp
    fail: Callable[[Target, pa.Table, pa.Table], Awaitable[pa.Table]] = fail
    remove: Callable[[Target, list[str]], Awaitable[Removed]] = remove
    restore: Callable[[Target], Awaitable[Restored]] = restore
    roll_back: Callable[[Target], Awaitable[Restored]] = roll_back
    flush: Callable[[Target], Awaitable[None]] = flush


@dataclass(frozen=True)
class IngestSteps:
    """What a folder sync adds to the write pipeline."""

    discover: Callable[[IngestRequest], Awaitable[Discovered]] = discover
    read: Callable[[str, pa.Table], Awaitable[Read]] = read
    write: WriteSteps = field(default_factory=WriteSteps)


DIRECT = IngestSteps()
