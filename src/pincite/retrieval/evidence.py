"""How far the evidence can be trusted to hold the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pincite.retrieval.one_corpus import Selected
from pincite.retrieval.packing import Block

NONE = "NONE"
WEAK = "WEAK"
SUFFICIENT = "SUFFICIENT"


@dataclass(frozen=True)
class Evidence:
    """The status of an answer, and the judgement behind it in [0, 1] where there is one."""

    status: str
    score: float | None = None


def assess(blocks: Sequence[Block], selected: Sequence[Selected]) -> Evidence:
    """``NONE`` without a block, ``WEAK`` when the best is under the weak line."""
    if not blocks:
        return Evidence(NONE)
    weak = [run.lines.weak for run in selected if run.lines and run.lines.weak is not None]
    dense = [b.candidate.dense for b in blocks if b.candidate.dense is not None]
    if not dense:
        by_words = any(block.candidate.lexical is not None for block in blocks)
        return Evidence(SUFFICIENT if by_words else WEAK)
    return Evidence(WEAK if weak and max(dense) < min(weak) else SUFFICIENT)
