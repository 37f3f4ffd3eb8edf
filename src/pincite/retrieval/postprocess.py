"""The rules between search and packing, one function each, over tables of candidates.

A rule takes ``schemas.candidates`` in order and returns the candidates it keeps, in order, and
those it drops with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from pincite.retrieval.candidates import LEXICAL, Candidate, from_table, to_table, usable
from pincite.schemas.dropped import DROPPED

BELOW_THRESHOLD = "below_threshold"
DUPLICATE = "duplicate"
DOCUMENT_CAP = "document_cap"
RETURN_N = "return_n"
BUDGET = "budget"
STALE = "stale"

_SCORES = ("dense", "lexical", "fused", "rerank", "trust", "source_rank")


@dataclass(frozen=True)
class Kept:
    """What a rule keeps, in order (``schemas.candidates``), and drops (``schemas.dropped``)."""

    candidates: pa.Table
    dropped: pa.Table


def current(candidates: pa.Table, versions: Mapping[str, int]) -> Kept:
    """Drop rows of document versions older than the stamped ones, and of removed documents.

    A store that reads with bounded staleness gives deleted rows back for a moment. ``versions``
    are the stamped versions of all documents among the candidates; a document without one is
    not, or no longer, part of the corpus. Rows without identity have no version to compare.
    """
    found = zip(
        candidates["doc_id"].to_pylist(), candidates["doc_version"].to_pylist(), strict=True
    )
    keep = [
        doc_id is None or version is None or versions.get(doc_id, version + 1) <= version
        for doc_id, version in found
    ]
    return split(candidates, keep, STALE)


def threshold(candidates: pa.Table, line: float | None) -> Kept:
    """Keep what reaches the line of dense similarity; ``None`` keeps all.

    What the lexical leg found without a dense score is exempt. What only the dense leg found,
    with a score that cannot be used, has not shown that it reaches the line.
    """
    if line is None:
        return Kept(candidates, DROPPED.empty())
    pairs = zip(candidates["dense"].to_pylist(), candidates["hit_reasons"].to_pylist(), strict=True)
    keep = [LEXICAL in reasons if dense is None else dense >= line for dense, reasons in pairs]
    return split(candidates, keep, BELOW_THRESHOLD)


def order(candidates: pa.Table) -> Kept:
    """Priority and score descending, then evidence key ascending; a missing score comes last."""
    priorities = candidates["priority"].to_pylist()
    scores = [usable(score) for score in candidates["score"].to_pylist()]
    keys = candidates["evidence_key"].to_pylist()
    ranks = sorted(
        range(len(keys)),
        key=lambda at: (-priorities[at], scores[at] is None, -(scores[at] or 0.0), keys[at]),
    )
    # With its type: no ranks at all would be a list of nulls.
    return Kept(candidates.take(pa.array(ranks, pa.int64())), DROPPED.empty())


def merge(candidates: pa.Table) -> Kept:
    """One candidate for each evidence key of a corpus: the highest-ranked one.

    It takes over the hit reasons of the others and the scores that it lacks itself.
    """
    keys = list(
        zip(candidates["corpus"].to_pylist(), candidates["evidence_key"].to_pylist(), strict=True)
    )
    if len(set(keys)) == len(keys):
        return Kept(candidates, DROPPED.empty())
    merged: dict[tuple[str, str], Candidate] = {}
    first: list[bool] = []
    for key, candidate in zip(keys, from_table(candidates), strict=True):
        first.append(key not in merged)
        merged[key] = candidate if first[-1] else _united(merged[key], candidate)
    return Kept(to_table(merged.values()), split(candidates, first, DUPLICATE).dropped)


def _united(kept: Candidate, other: Candidate) -> Candidate:
    reasons = tuple(dict.fromkeys((*kept.hit_reasons, *other.hit_reasons)))
    lacking = {
        name: getattr(other, name)
        for name in _SCORES
        if getattr(kept, name) is None and getattr(other, name) is not None
    }
    return replace(kept, hit_reasons=reasons, **lacking)


def cap(candidates: pa.Table, per_document: int) -> Kept:
    """At most ``per_document`` of one document; without ``doc_id`` each stands for itself."""
    seen: Counter[tuple[str, str]] = Counter()
    fits: list[bool] = []
    documents = zip(candidates["corpus"].to_pylist(), candidates["doc_id"].to_pylist(), strict=True)
    for document in documents:
        seen[document] += 1
        fits.append(document[1] is None or seen[document] <= per_document)
    return split(candidates, fits, DOCUMENT_CAP)


def cut(candidates: pa.Table, return_n: int) -> Kept:
    """The first ``return_n``."""
    out = candidates.slice(return_n)
    return Kept(candidates.slice(0, return_n), dropped(out, RETURN_N))


def split(candidates: pa.Table, keep: Sequence[bool], reason: str) -> Kept:
    """The candidates that are kept, and the others as dropped for one reason."""
    if all(keep):
        return Kept(candidates, DROPPED.empty())
    out = candidates.filter([not kept for kept in keep])
    return Kept(candidates.filter(list(keep)), dropped(out, reason))


def dropped(candidates: pa.Table, reason: str) -> pa.Table:
    """The candidates as lines of ``schemas.dropped``."""
    reasons = pa.array([reason] * len(candidates), pa.string())
    known = candidates.select(["evidence_key", "corpus", "source", "score"])
    return known.append_column("reason", reasons).select(DROPPED.schema.names).cast(DROPPED.schema)
