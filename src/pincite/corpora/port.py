"""The port of a corpus: how its input becomes documents."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import pyarrow as pa


class Read(NamedTuple):
    """Documents that could be read, notices, and the attempts that failed."""

    documents: pa.Table
    notices: pa.Table
    attempts: pa.Table


class CorpusAdapter(Protocol):
    """One corpus.

    ``build_ingest_documents`` turns a table of what was found (``schemas.files`` for folders)
    into documents, in its order; what cannot be read fails alone, as a notice and an attempt.
    ``adjust`` gives candidates (``schemas.candidates``) their final score; it drops none.
    """

    name: str

    def build_ingest_documents(self, found: pa.Table) -> Read: ...

    def adjust(self, candidates: pa.Table) -> pa.Table: ...
