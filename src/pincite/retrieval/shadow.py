"""How the core's answer differs from the legacy path's, where both ran."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import correlation

from pincite.catalog.shadows import ShadowLine
from pincite.errors import PinciteError
from pincite.retrieval.one_corpus import Selected


def difference(
    legacy: Selected, core: Selected | PinciteError, n: int, legacy_ms: int, core_ms: int
) -> ShadowLine:
    """The line to keep: figures over the first ``n`` of each, and no text or id."""
    if isinstance(core, PinciteError):
        return ShadowLine(legacy.corpus, n, None, None, legacy_ms, core_ms, core.code)
    old, new = _keys(legacy, n), _keys(core, n)
    return ShadowLine(
        legacy.corpus, n, overlap(old, new), rank_correlation(old, new), legacy_ms, core_ms
    )


def overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of the longer list that both have; 1 where both are empty."""
    longer = max(len(one), len(other))
    return len(set(one) & set(other)) / longer if longer else 1.0


def rank_correlation(one: Sequence[str], other: Sequence[str]) -> float | None:
    """Spearman's rank correlation of what both have, in [-1, 1]; ``None`` of fewer than two."""
    shared = [key for key in one if key in set(other)]
    if len(shared) < 2:
        return None
    there = sorted(shared, key=other.index)
    return correlation(range(len(shared)), [there.index(key) for key in shared])


def _keys(selected: Selected, n: int) -> list[str]:
    keys: list[str] = selected.candidates["evidence_key"].to_pylist()[:n]
    return keys
