from collections.abc import Callable
from typing import Any

import pytest

from pincite.identity import chunk_key, text_sha256
from pincite.retrieval.candidates import Candidate

Make = Callable[..., Candidate]


@pytest.fixture(scope="session")
def make() -> Make:
    """Makes a candidate: chunk ``index`` of ``doc_id``, with the given fields."""

    def candidate(doc_id: str | None = "a", index: int = 0, **fields: Any) -> Candidate:
        content = fields.get("content", f"text {doc_id} {index}")
        key = chunk_key(doc_id, index) if doc_id else f"vector:v{index}"
        values: dict[str, Any] = {
            "evidence_key": key,
            "corpus": "docs",
            "generation": 1,
            "doc_id": doc_id,
            "chunk_index": index if doc_id else None,
            "vector_id": key,
            "doc_version": 1,
            "source": "",
            "title": "",
            "heading": "",
            "content": content,
            "char_start": None,
            "char_end": None,
            "content_sha256": text_sha256(content),
            "kb_scope": "",
            "category": "",
            "original_rank": 0,
            "hit_reasons": ("dense",),
        }
        return Candidate(**{**values, **fields})

    return candidate
