"""The final score of a web result: how well it fits, how far it is trusted, where it was ranked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pincite.retrieval.candidates import usable

# A spread under this share of the best score is not stretched to the whole range: among hits that
# fit about equally well it would make the last of them worthless.
LEAST_SPREAD = 0.1


def rank_part(rank: int) -> float:
    """What a search engine's rank (from 1) is worth, in (0, 1]; 0 = unknown is worth 0.

    The discount of Jarvelin and Kekalainen, ACM TOIS 2002: each doubling of the rank counts as
    much as the one before.
    """
    return 1 / (1 + math.log2(rank)) if rank > 0 else 0.0


def fits(scores: Sequence[float | None]) -> list[float | None]:
    """Scores of any scale as shares of the best one's lead, in [0, 1]; higher stays higher.

    The best is 1. ``None`` and what is no finite number is ``None``.
    """
    # Halves, because a difference of two finite numbers may be infinite.
    halves = [None if (score := usable(given)) is None else score / 2 for given in scores]
    known = [half for half in halves if half is not None]
    if not known:
        return halves
    best = max(known)
    spread = max(best - min(known), LEAST_SPREAD * abs(best))
    return [
        None if half is None else 1 - (best - half) / spread if spread else 1.0 for half in halves
    ]


def blended(fit: float, trust: float, rank: float, weights: tuple[float, float]) -> float:
    """The weighted mean of three parts in [0, 1].

    ``weights`` are those of trust and rank; what they leave is for the fit.
    """
    trust_weight, rank_weight = weights
    return (1 - trust_weight - rank_weight) * fit + trust_weight * trust + rank_weight * rank
