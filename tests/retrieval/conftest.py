from collections.abc import Callable
from typing import Any

import pytest

from pincite.identity import chunk_key, text_sha256
from pincite.retrieval.candidates import Candidate
from pincite.retrieval.knowledge import KnowledgeSearchHit

Make = Callable[..., Candidate]
MakeHit = Callable[..., KnowledgeSearchHit]


@pytest.fixture(scope="session")
def make() -> Make:
    """Makes a candidate: chunk ``index`` of ``doc_id``, with the given fields."""
    return _candidate


@pytest.fixture(scope="session")
def hit() -> MakeHit:
    """Makes a hit of the dense leg: chunk ``index`` of ``doc_id``, with the given fields."""
    return _hit


def _candidate(doc_id: str | None = "a", index: int = 0, **fields: Any) -> Candidate:
    values = {
        **_row(doc_id, index, fields),
        "evidence_key": _key(doc_id, index),
        "corpus": "docs",
        "generation": 1,
        "original_rank": 0,
        "hit_reasons": ("dense",),
    }
    return Candidate(**{**values, **fields})


def _hit(
    doc_id: str | None = "a", index: int = 0, similarity: float | None = 0.5, **fields: Any
) -> KnowledgeSearchHit:
    values = {
        **_row(doc_id, index, fields),
        "similarity": similarity,
        "lexical": None,
        "raw_score": 0.0,
        "metadata": {},
    }
    return KnowledgeSearchHit(**{**values, **fields})


def _row(doc_id: str | None, index: int, fields: dict[str, Any]) -> dict[str, Any]:
    content = fields.get("content", f"text {doc_id} {index}")
    return {
        "doc_id": doc_id,
        "chunk_index": index if doc_id else None,
        "vector_id": _key(doc_id, index) if doc_id else f"v{index}",
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
    }


def _key(doc_id: str | None, index: int) -> str:
    return chunk_key(doc_id, index) if doc_id else f"vector:v{index}"
