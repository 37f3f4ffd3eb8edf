"""Evidence keys: the identity of one chunk, and the digests that pin its text."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import NamedTuple

CHUNK_MARK = "#chunk-"
VECTOR_PREFIX = "vector:"
RANK_PREFIX = "rank:"
ABSENT_INDEX = -1
MAX_DOC_ID_BYTES = 500

# Control characters, lone surrogates, line and paragraph separators.
_BREAKS = frozenset({"Cc", "Cs", "Zl", "Zp"})
MAX_INDEX_DIGITS = 18


class ChunkKey(NamedTuple):
    """The two halves of a chunk's evidence key."""

    doc_id: str
    chunk_index: int


def evidence_key(
    doc_id: str | None, chunk_index: int | None, vector_id: str | None, original_rank: int
) -> str:
    """The identity under which a candidate is cited, merged and reported.

    Args:
        doc_id: Document id; ``None`` and ``""`` read as absent.
        chunk_index: Position in the document; ``None`` and ``-1`` read as absent.
        vector_id: The store's primary key; ``None`` and ``""`` read as absent.
        original_rank: Rank (from 0) after the legs are fused.
    """
    if doc_id and chunk_index is not None and chunk_index != ABSENT_INDEX:
        return chunk_key(doc_id, chunk_index)
    if vector_id:
        return f"{VECTOR_PREFIX}{vector_id}"
    return f"{RANK_PREFIX}{original_rank}"


def chunk_key(doc_id: str, chunk_index: int) -> str:
    """``<doc_id>#chunk-<chunk_index>``."""
    return f"{doc_id}{CHUNK_MARK}{chunk_index}"


def parse_chunk_key(key: str) -> ChunkKey | None:
    """Split a chunk's evidence key; ``None`` for any other string.

    A ``doc_id`` may itself contain ``#chunk-``, so the key is parsed from the right.
    """
    doc_id, mark, index = key.rpartition(CHUNK_MARK)
    digits = index.isascii() and index.isdigit() and len(index) <= MAX_INDEX_DIGITS
    canonical = digits and (index == "0" or index[0] != "0")
    return ChunkKey(doc_id, int(index)) if mark and doc_id and canonical else None


def doc_id_fault(doc_id: str) -> str | None:
    """What is wrong with a document id, ``None`` when nothing is."""
    if not doc_id.strip():
        return "is blank"
    if any(one == "\ufffd" or unicodedata.category(one) in _BREAKS for one in doc_id):
        return "holds control characters"
    if len(doc_id.encode("utf-8")) > MAX_DOC_ID_BYTES:
        return f"is longer than {MAX_DOC_ID_BYTES} bytes"
    return None


def text_sha256(text: str) -> str:
    """Lower-case hex SHA-256 of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def bytes_sha256(data: bytes) -> str:
    """Lower-case hex SHA-256 of raw bytes."""
    return hashlib.sha256(data).hexdigest()
