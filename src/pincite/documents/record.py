"""A document's metadata as one canonical JSON text: what is kept, compared and restored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pincite.recipe import Recipe, fingerprint
from pincite.schemas.owner import NOBODY

_TEXTS = ("source", "source_name", "kb_scope", "category", "title", "summary")
_LISTS = ("keywords", "tags", "aliases")
READER = "reader"
OWNER = "owner"


def record_of(document: Mapping[str, Any]) -> str:
    """Canonical JSON of a row of ``schemas.documents``, without the text and its digests."""
    record = {name: document[name] for name in (*_TEXTS, READER)}
    record.update({name: list(document[name]) for name in _LISTS})
    record["metadata"] = json.loads(document["metadata"])
    # Only what belongs to somebody says so: records of files stay as they were.
    owner = {name: document[name] for name, nothing in NOBODY.items() if document[name] != nothing}
    return _canonical({**record, OWNER: owner} if owner else record)


def document_of(
    doc_id: str, record: Mapping[str, Any], text: str, text_digest: str, raw_sha256: str
) -> dict[str, Any]:
    """The row of ``schemas.documents`` that the record and the kept text came from."""
    row = {name: record[name] for name in (*_TEXTS, READER, *_LISTS)}
    return {
        **row,
        **NOBODY,
        **record.get(OWNER, {}),
        "doc_id": doc_id,
        "metadata": _canonical(record["metadata"]),
        "text": text,
        "text_digest": text_digest,
        "raw_sha256": raw_sha256,
    }


def fingerprint_of(recipe: Recipe, text_digest: str, record: str) -> str:
    """The fingerprint; another reader version that reads the same text changes nothing."""
    kept = {name: value for name, value in json.loads(record).items() if name != READER}
    return fingerprint(recipe, text_digest, _canonical(kept))


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
