"""What a page shows of an answer: its blocks, and how they were found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pincite.retrieval.packing import Block
from pincite.retrieval.result import LookupResult
from pincite.retrieval.trace import Dropped, Stage
from pincite.serving.inspector.form import Asked, evidence_path
from pincite.serving.inspector.highlight import Piece, pieces

# It counts phrases and terms, all others candidates: it has no place on their scale.
_HINTS = "l0"
_SCORES = ("dense", "lexical", "fused", "rerank", "trust", "source_rank")


@dataclass(frozen=True)
class Shown:
    """One evidence block; ``path`` is that of its citation, ``scores`` what sorts is made of."""

    rank: int
    block: Block
    path: str
    excerpt: tuple[Piece, ...]
    scores: tuple[tuple[str, float | None], ...]


@dataclass(frozen=True)
class Step:
    """One stage, with the lengths of its bars, 0 to 100; ``reasons`` count what it dropped.

    The stage of hints has no bars of candidates.
    """

    stage: Stage
    entered: float
    left: float
    latency: float
    reasons: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Fallen:
    """A candidate that was dropped, and the path of its citation."""

    dropped: Dropped
    path: str


@dataclass(frozen=True)
class Answer:
    """A lookup's result as a page shows it; ``of_many``: several corpora were asked."""

    result: LookupResult
    of_many: bool
    blocks: tuple[Shown, ...]
    steps: tuple[Step, ...]
    fallen: tuple[Fallen, ...]
    fallen_for: tuple[tuple[str, int], ...]


def answer_of(result: LookupResult, asked: Asked) -> Answer:
    """The answer to what was asked."""
    dropped = result.trace.dropped
    return Answer(
        result=result,
        of_many="," in result.corpus,
        blocks=tuple(_shown(rank, b, result, asked) for rank, b in enumerate(result.blocks, 1)),
        steps=tuple(steps_of(result.trace.stages, dropped)),
        fallen=tuple(Fallen(one, _path_of_dropped(one, asked)) for one in dropped),
        fallen_for=_counts(one.reason for one in dropped),
    )


def _shown(rank: int, block: Block, result: LookupResult, asked: Asked) -> Shown:
    one = block.candidate
    return Shown(
        rank=rank,
        block=block,
        path=evidence_path(
            one.evidence_key, corpus=one.corpus, asked=asked, sha256=one.content_sha256
        ),
        excerpt=tuple(pieces(block.content, result.query, result.transformed_query)),
        scores=tuple((name, getattr(one, name)) for name in _SCORES),
    )


def _path_of_dropped(one: Dropped, asked: Asked) -> str:
    return evidence_path(one.evidence_key, corpus=one.corpus, asked=asked)


def steps_of(stages: Sequence[Stage], dropped: Sequence[Dropped]) -> Iterable[Step]:
    """The stages with their bars; the longest of each kind is 100."""
    most = max((max(one.entered, one.left) for one in stages if one.name != _HINTS), default=0)
    longest = max((one.latency_ms for one in stages), default=0)
    for one in stages:
        scale = 0 if one.name == _HINTS else most
        yield Step(
            stage=one,
            entered=bar(one.entered, scale),
            left=bar(one.left, scale),
            latency=bar(one.latency_ms, longest),
            reasons=_counts(d.reason for d in dropped if _fell_here(d, one)),
        )


def bar(value: float, most: float) -> float:
    """The length of a bar, 0 to 100, where the longest one is ``most``."""
    return round(100 * value / most, 2) if most else 0.0


def _fell_here(dropped: Dropped, stage: Stage) -> bool:
    """A stage over several corpora drops from each of them."""
    return dropped.stage == stage.name and dropped.corpus in stage.corpus.split(",")


def _counts(reasons: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(Counter(reasons).items())
