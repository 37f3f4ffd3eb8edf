"""The corpus of files: documents of synced folders."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from pincite.corpora.port import Read
from pincite.documents.model import FoundFile
from pincite.documents.readers import read_document, supported_suffixes
from pincite.errors import DocumentError
from pincite.schemas.attempts import ATTEMPTS
from pincite.schemas.documents import DOCUMENTS
from pincite.schemas.notices import NOTICES, failure, warning
from pincite.schemas.owner import NOBODY


class DocsCorpus:
    """Reads files into documents."""

    name = "docs"

    @property
    def suffixes(self) -> frozenset[str]:
        """Those whose reader is installed."""
        return supported_suffixes()

    def build_ingest_documents(self, found: pa.Table) -> Read:
        """Documents of a table of ``schemas.files``, in its order; a bad file fails alone."""
        documents: list[dict[str, Any]] = []
        notices: list[dict[str, str]] = []
        failed: list[dict[str, Any]] = []
        for row in found.to_pylist():
            try:
                document, odd = _read(row)
            except DocumentError as error:
                notices.append(failure(row["source"], row["source"], error))
                failed.append(_attempt(row))
            else:
                documents.append(document)
                notices += odd
        return Read(
            DOCUMENTS.from_rows(documents), NOTICES.from_rows(notices), ATTEMPTS.from_rows(failed)
        )

    def adjust(self, candidates: pa.Table) -> pa.Table:
        """The candidates as they are: files have no order of their own."""
        return candidates


def _read(row: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, str]]]:
    result = read_document(FoundFile(Path(row["path"]), row["source"], row["size"]))
    document = asdict(result.document)
    document["kb_scope"] = row["kb_scope"]
    document["category"] = row["category"] or document["category"]
    document.update(NOBODY)
    odd = [
        warning(document["doc_id"], row["source"], notice.code, notice.message)
        for notice in result.warnings
    ]
    return document, odd


def _attempt(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "doc_id": row["source"],
        "kb_scope": row["kb_scope"],
        "source_name": row["source_name"],
        "journalled": False,
    }
