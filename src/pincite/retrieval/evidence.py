"""Whether the evidence is enough to answer from.

A cosine alone does not tell: a passage about the subject is as near as the one with the answer.
So a model's profile may judge by three things of the best passage: how much of the query's rare
words it holds, how much of its long words, and its cosine. The weights and the cut are measured
(``benchmarks/quality.py``); a model without them is judged by its ``weak`` line alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.embedding.port import EvidenceModel
from pincite.retrieval.candidates import Candidate, from_table
from pincite.retrieval.legacy import REASON
from pincite.retrieval.one_corpus import Selected
from pincite.retrieval.packing import Block
from pincite.retrieval.words import Weights, held, idfs, length, terms_of

NONE = "NONE"
WEAK = "WEAK"
SUFFICIENT = "SUFFICIENT"

# A score from here on is enough.
ENOUGH = 0.5


@dataclass(frozen=True)
class Evidence:
    """The status of an answer, and the judgement behind it in [0, 1] where there is one."""

    status: str
    score: float | None = None


def assess(blocks: Sequence[Block], selected: Sequence[Selected]) -> Evidence:
    """``NONE`` without a block, ``SUFFICIENT`` when one corpus has enough, else ``WEAK``."""
    judged = [
        _judge(best, run) for run in selected if (best := _best(blocks, run.corpus)) is not None
    ]
    if not judged:
        return Evidence(NONE)
    scores = [one.score for one in judged if one.score is not None]
    enough = any(one.status == SUFFICIENT for one in judged)
    return Evidence(SUFFICIENT if enough else WEAK, max(scores, default=None))


def _best(blocks: Sequence[Block], corpus: str) -> Candidate | None:
    return next((b.candidate for b in blocks if b.candidate.corpus == corpus), None)


def _judge(best: Candidate, run: Selected) -> Evidence:
    """By the weak line if one is set, else by the model's judgement, else whatever was found.

    On the legacy path by the share of the query's words that the best passage holds.
    """
    if REASON in best.hit_reasons:
        return Evidence(SUFFICIENT if (best.lexical or 0.0) >= ENOUGH else WEAK)
    pool = from_table(run.pool)
    cosines = [one.dense for one in pool if one.dense is not None]
    if not cosines:
        enough = best.lexical is not None and not _is_measured(run)
        return Evidence(SUFFICIENT if enough else WEAK)
    weak = run.lines.weak if run.lines else None
    if weak is not None:
        return Evidence(WEAK if max(cosines) < weak else SUFFICIENT)
    model = run.pinned.profile.evidence if run.pinned else None
    if model is None or run.question is None:
        return Evidence(SUFFICIENT)
    score = _score(model, run.question.terms, best, pool, min(cosines))
    return Evidence(SUFFICIENT if score >= ENOUGH else WEAK, score)


def _is_measured(run: Selected) -> bool:
    """Whether a threshold was there for the passages to reach: what is left did not."""
    asked = run.question is not None and run.question.vector is not None
    return asked and run.lines is not None and run.lines.threshold is not None


def _score(
    model: EvidenceModel,
    terms: Sequence[str],
    best: Candidate,
    pool: Sequence[Candidate],
    lowest: float,
) -> float:
    """The judgement in [0, 1]: the logistic function of how far the sum is from the cut."""
    texts = [_words(one) for one in pool]
    here = _words(best)
    total = (
        model.rare * _share(here, idfs(terms, texts))
        + model.long * _share(here, {term: length(term) for term in terms})
        + model.cosine * (lowest if best.dense is None else best.dense)
    )
    return 1 / (1 + math.exp(model.cut - total))


def _share(text: set[str], weights: Weights) -> float:
    return held(text, weights) / (sum(weights.values()) or 1.0)


def _words(candidate: Candidate) -> set[str]:
    above, text = terms_of(candidate.title, candidate.heading, candidate.content, candidate.terms)
    return {*above, *text}
