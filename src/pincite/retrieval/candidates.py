"""Hits on their way through post-processing: one value each, one table together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real

import pyarrow as pa

from pincite.schemas.candidates import CANDIDATES

DENSE = "dense"
LEXICAL = "lexical"
L0_CATEGORY = "l0_category"
CATEGORY = "category"


@dataclass(frozen=True)
class Candidate:
    """One chunk that a search found, with everything that decides its fate.

    The fields and their meaning are those of ``schemas.candidates``. ``None`` is an absent value:
    identity, span and version of rows that carry none, scores that nobody gave. All scores are
    higher-is-better; ``score`` is the one that sorts.
    """

    evidence_key: str
    corpus: str
    generation: int | None
    doc_id: str | None
    chunk_index: int | None
    vector_id: str | None
    doc_version: int | None
    source: str
    title: str
    heading: str
    content: str
    char_start: int | None
    char_end: int | None
    content_sha256: str
    kb_scope: str
    category: str
    original_rank: int
    hit_reasons: tuple[str, ...]
    priority: int = 0
    score: float | None = None
    dense: float | None = None
    lexical: float | None = None
    fused: float | None = None
    rerank: float | None = None
    trust: float | None = None
    source_rank: float | None = None
    terms: str = ""
    metadata: str = ""
    expires_at: int = 0


def to_table(candidates: Iterable[Candidate]) -> pa.Table:
    """The candidates as a table of ``schemas.candidates``, in order.

    Built column by column: a candidate has its types already, and this runs in every lookup.
    """
    rows = [vars(candidate) for candidate in candidates]
    schema = CANDIDATES.schema
    arrays = [pa.array([row[field.name] for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def from_table(table: pa.Table) -> tuple[Candidate, ...]:
    """The candidates of a table, in order."""
    return tuple(
        Candidate(**{**row, "hit_reasons": tuple(row["hit_reasons"])}) for row in table.to_pylist()
    )


def usable(score: float | None) -> float | None:
    """The score, or ``None`` where it is missing or not finite."""
    return float(score) if isinstance(score, Real) and math.isfinite(score) else None


def best_dense(candidates: pa.Table) -> float | None:
    """The highest cosine among them, ``None`` when none has one."""
    return max((s for s in candidates["dense"].to_pylist() if s is not None), default=None)


def finite(candidates: pa.Table) -> pa.Table:
    """The candidates without scores that are no numbers: NaN sorts nowhere and is no JSON."""
    for at, field in enumerate(CANDIDATES.schema):
        if pa.types.is_floating(field.type):
            given = candidates[field.name].to_pylist()
            values = [usable(score) for score in given]
            if values != given:
                candidates = candidates.set_column(at, field, pa.array(values, field.type))
    return candidates
