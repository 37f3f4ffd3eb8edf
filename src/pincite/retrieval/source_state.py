"""Whether the place that a document came from still gives the same bytes."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pincite.catalog.catalog import Catalog
from pincite.corpora.memory import memory_id
from pincite.documents.record import OWNER

UNCHANGED = "unchanged"
CHANGED = "changed"
MISSING = "missing"
UNKNOWN = "unknown"

CANNOT_TELL = ""

SourceDigest = Callable[[str, Mapping[str, Any]], str | None]
"""From corpus and a version's record to the hex SHA-256 of the source's bytes now.

``None``: the source is gone. ``CANNOT_TELL``: nobody here can say.
"""


def source_state(raw_sha256: str, now: str | None) -> str:
    """``unchanged``, ``changed``, ``missing`` or ``unknown``."""
    if now is None:
        return MISSING
    if not raw_sha256 or now == CANNOT_TELL:
        return UNKNOWN
    return UNCHANGED if now == raw_sha256 else CHANGED


def file_digests(catalog: Catalog) -> SourceDigest:
    """Digests of files below the folders that the catalogue has bound to source names."""

    def digest(corpus: str, record: Mapping[str, Any]) -> str | None:
        folder = catalog.generations.roots(corpus).get(str(record.get("source_name", "")))
        return CANNOT_TELL if folder is None else _file_digest(Path(folder), record)

    return digest


def source_digests(catalog: Catalog) -> SourceDigest:
    """Digests of files, and of the memory items that are in the catalogue."""
    of_file = file_digests(catalog)

    def digest(corpus: str, record: Mapping[str, Any]) -> str | None:
        return _item_digest(catalog, record) if corpus == "memory" else of_file(corpus, record)

    return digest


def _item_digest(catalog: Catalog, record: Mapping[str, Any]) -> str | None:
    owner, item_id = record.get(OWNER, {}), record["metadata"].get("item_id", "")
    doc_id = memory_id(str(record.get("kb_scope", "")), owner, item_id)
    found = catalog.items["memory"].get([doc_id]).get(doc_id)
    return None if found is None else str(found["text_digest"])


def _file_digest(folder: Path, record: Mapping[str, Any]) -> str | None:
    name, _, relative = str(record.get("source", "")).partition("/")
    parts = relative.split("/")
    if name != record["source_name"] or ".." in parts or not folder.is_dir():
        return CANNOT_TELL
    try:
        path = _find(folder, parts)
        if path is None:
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
    except OSError:
        return CANNOT_TELL


def _find(folder: Path, parts: list[str]) -> Path | None:
    """The file below the folder; names on disk may be in another Unicode form than NFC."""
    for part in parts:
        direct = folder / part
        if not direct.exists():
            alike = (p for p in folder.iterdir() if unicodedata.normalize("NFC", p.name) == part)
            found = next(alike, None)
            if found is None:
                return None
            direct = found
        folder = direct
    return folder if folder.is_file() else None
