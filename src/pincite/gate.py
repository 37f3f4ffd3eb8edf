"""The identity gate: rules that every row meets before it enters the store.

The rules are stated here over a table of plain measures. In the flows the same rules are a
Great Expectations suite over the same measures (``pincite.expectations.rows``); a parity test
proves that both refuse the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pincite.identity import ABSENT_INDEX, CHUNK_MARK
from pincite.scopes import ALL, ANY

LEAST_NORM = 1e-6
GREATEST_NORM = 1e6

Mask = Any


@dataclass(frozen=True)
class Limits:
    """What the rules depend on: vector width, UTF-8 bytes that ``content`` may have, the corpus."""

    dim: int
    max_content_bytes: int
    corpus: str = "docs"


def measures(rows: pa.Table) -> pa.Table:
    """What the rules are asked about, one line per row and no null anywhere.

    An absent value is measured as one that breaks its rule (``""``, -1, 0): frameworks pass over
    nulls, and one null turns a column of integers into floats. ``expected_key`` is the key that
    identity demands, ``expected_index`` the row's rank among the rows of its document,
    ``vector_length`` a count, ``vector_norm`` the Euclidean norm (0 where a value is not finite),
    ``owner`` the kind of corpus that a row with its scope ids can belong to.
    """
    doc_id = rows["doc_id"].cast(pa.string()).fill_null("")
    index = rows["chunk_index"].cast(pa.int64()).fill_null(ABSENT_INDEX)
    return pa.table(
        {
            "doc_id": doc_id,
            "chunk_index": index,
            "evidence_key": rows["evidence_key"].fill_null(""),
            "vector_id": rows["vector_id"].fill_null(""),
            "expected_key": pc.binary_join_element_wise(
                doc_id, index.cast(pa.string()), CHUNK_MARK
            ),
            "expected_index": _ranks(doc_id, index),
            "content_bytes": pc.binary_length(rows["content"]).cast(pa.int64()).fill_null(0),
            "vector_length": pc.list_value_length(rows["embedding"]).cast(pa.int64()).fill_null(0),
            "vector_norm": _norms(rows["embedding"]),
            "owner": _owners(rows),
        }
    )


def _owners(rows: pa.Table) -> pa.Array:
    """``docs`` without any scope id, ``memory`` with all of its own, ``web`` with one or two.

    Ids of both, or some of memory's only, fit no corpus: ``""``.
    """
    memory, web = (_present(rows, names) for names in (ALL["memory"], ANY["web"]))
    fits = {
        "docs": (memory == 0) & (web == 0),
        "memory": (memory == len(ALL["memory"])) & (web == 0),
        "web": (memory == 0) & (web > 0),
    }
    return pa.array(np.select(list(fits.values()), list(fits), ""), pa.string())


def _present(rows: pa.Table, names: Sequence[str]) -> Any:
    """How many of these ids each row has, ``(n,) int64``; a blank one is none."""
    found = np.zeros(rows.num_rows, np.int64)
    for name in names:
        sizes = pc.utf8_length(pc.utf8_trim_whitespace(rows[name].cast(pa.string()).fill_null("")))
        found += sizes.to_numpy() > 0
    return found


def _ranks(doc_id: pa.ChunkedArray, index: pa.ChunkedArray) -> pa.Array:
    """Rank of each row in its document by chunk index, from 0; ties keep their order."""
    ids = doc_id.combine_chunks().dictionary_encode().indices.to_numpy()
    places = index.combine_chunks().to_numpy()
    order = np.lexsort((places, ids))
    starts = np.r_[True, ids[order][1:] != ids[order][:-1]]
    positions = np.arange(len(ids))
    ranks = np.empty(len(ids), np.int64)
    ranks[order] = positions - np.maximum.accumulate(np.where(starts, positions, 0))
    return pa.array(ranks)


def _norms(embedding: pa.ChunkedArray) -> pa.Array:
    """Norm per vector; 0 for a vector that is absent or holds NaN or infinity."""
    vectors = embedding.combine_chunks()
    lengths = pc.list_value_length(vectors).fill_null(0).to_numpy()
    values = pc.list_flatten(vectors).fill_null(np.nan).to_numpy().astype(np.float64)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    norms = np.sqrt(np.bincount(owners, weights=values * values, minlength=len(lengths)))
    return pa.array(np.where(np.isfinite(norms), norms, 0.0))


RULES: Mapping[str, Callable[[pa.Table, Limits], Mask]] = {
    "doc_id_present": lambda m, _: pc.greater(pc.binary_length(m["doc_id"]), 0),
    "chunk_index_not_negative": lambda m, _: pc.greater_equal(m["chunk_index"], 0),
    "chunk_index_contiguous": lambda m, _: pc.equal(m["chunk_index"], m["expected_index"]),
    "evidence_key_derived": lambda m, _: pc.equal(m["evidence_key"], m["expected_key"]),
    "vector_id_is_evidence_key": lambda m, _: pc.equal(m["vector_id"], m["evidence_key"]),
    "evidence_key_unique": lambda m, _: _unique(m["evidence_key"]),
    "content_present": lambda m, _: pc.greater(m["content_bytes"], 0),
    "content_fits": lambda m, limits: pc.less_equal(m["content_bytes"], limits.max_content_bytes),
    "vector_width": lambda m, limits: pc.equal(m["vector_length"], limits.dim),
    "vector_finite_and_not_zero": lambda m, _: pc.and_(
        pc.greater_equal(m["vector_norm"], LEAST_NORM),
        pc.less_equal(m["vector_norm"], GREATEST_NORM),
    ),
    "owner_fits_corpus": lambda m, limits: pc.equal(m["owner"], limits.corpus),
}


def _unique(keys: pa.ChunkedArray) -> pa.Array:
    """True where no other row has the same key."""
    encoded = keys.combine_chunks().dictionary_encode()
    codes = encoded.indices.to_numpy()
    return pa.array(np.bincount(codes)[codes] == 1)


@dataclass(frozen=True)
class Verdict:
    """What the gate found: per rule the positions of rows that break it."""

    rows: int
    broken: Mapping[str, frozenset[int]]

    @property
    def bad_rows(self) -> frozenset[int]:
        return frozenset().union(*self.broken.values())


def judge(rows: pa.Table, limits: Limits) -> Verdict:
    """Ask every rule about every row.

    Raises:
        ValueError: There is no row; an empty table would pass every rule.
    """
    if rows.num_rows == 0:
        raise ValueError("the identity gate needs at least one row")
    measured = measures(rows)
    return Verdict(
        rows.num_rows,
        {name: _positions(rule(measured, limits)) for name, rule in RULES.items()},
    )


def _positions(mask: Mask) -> frozenset[int]:
    flat = mask.combine_chunks() if isinstance(mask, pa.ChunkedArray) else mask
    holds = flat.to_numpy(zero_copy_only=False)
    return frozenset(np.flatnonzero(~holds).tolist())
