"""Where an expected source or evidence key ended on its way through a lookup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pincite.evaluation.answer import Answer, Block, Dropped

SEARCH = "search"
RETURNED = "returned"
NOT_RECALLED = "not_recalled"


@dataclass(frozen=True)
class Fate:
    """``rank`` is its best place among the blocks, from 1, or ``None``.

    ``stage`` and ``reason`` tell where it went: ``returned``, the stage that dropped it, or
    ``search`` where no candidate was found.
    """

    name: str
    rank: int | None
    stage: str
    reason: str

    @property
    def recalled(self) -> bool:
        """Whether search found it."""
        return self.reason != NOT_RECALLED

    @property
    def sentence(self) -> str:
        """What happened, for a report."""
        if self.rank is not None:
            return f"{self.name} was returned at rank {self.rank}."
        if self.recalled:
            return f"{self.name} was found and dropped at {self.stage} ({self.reason})."
        return f"{self.name} was not found by the search."


def fates_of(names: Sequence[str], answer: Answer) -> tuple[Fate, ...]:
    """The fate of each source or evidence key, in order."""
    return tuple(_fate(name, answer) for name in names)


def names_it(name: str, entry: Block | Dropped) -> bool:
    """Whether the name is the entry's evidence key or its source."""
    return name in (entry.evidence_key, entry.source)


def _fate(name: str, answer: Answer) -> Fate:
    for rank, block in enumerate(answer.blocks, start=1):
        if names_it(name, block):
            return Fate(name, rank, RETURNED, RETURNED)
    # Rules run from the widest to the narrowest: what fell out last came furthest.
    for dropped in reversed(answer.trace.dropped):
        if names_it(name, dropped):
            return Fate(name, None, dropped.stage, dropped.reason)
    return Fate(name, None, SEARCH, NOT_RECALLED)
