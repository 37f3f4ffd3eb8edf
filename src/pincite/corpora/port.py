"""The port of a corpus: how its input becomes documents."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from pincite.writing.tables import Read


class CorpusAdapter(Protocol):
    """One corpus.

    ``build_ingest_documents`` turns a table of what was found (``schemas.files`` for folders)
    into documents, in its order; what cannot be read fails alone, as a notice and an attempt.
    """

    name: str

    def build_ingest_documents(self, found: pa.Table) -> Read: ...
