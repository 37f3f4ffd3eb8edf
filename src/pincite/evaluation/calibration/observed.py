"""What the answers to golden cases say about lines: the cosines that were seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pincite.evaluation.answer import Answer, Attempt, Block
from pincite.evaluation.cases import GoldenCase
from pincite.evaluation.fate import names_it
from pincite.retrieval.evidence import NONE, SUFFICIENT, WEAK


@dataclass(frozen=True)
class Observed:
    """One case with its answer; cosines are ``None`` where there is none.

    ``first`` is the best cosine of the first attempt, ``best`` that of all; ``by_words`` tells
    whether something was found by full text alone, which no threshold drops. ``passages`` are the
    cosines of the expected evidence, ``unseen`` counts what of it has none. ``status`` is that of
    the judgement in force, ``by_model`` whether the embedding model's own gave it.
    """

    answerable: bool
    first: float | None
    best: float | None
    by_words: bool
    passages: tuple[float, ...]
    unseen: int
    status: str
    by_model: bool

    def settled(self, threshold: float, low_quality: float) -> float | None:
        """The best cosine of the attempt that such lines would use."""
        enough = self.first is not None and self.first >= max(threshold, low_quality)
        return self.first if enough else self.best

    def status_at(self, threshold: float, low_quality: float, weak: float) -> str:
        """The status that such lines would give."""
        cosine = self.settled(threshold, low_quality)
        if cosine is None or cosine < threshold:
            return WEAK if self.by_words else NONE
        return WEAK if cosine < weak else SUFFICIENT


def is_answerable(case: GoldenCase) -> bool | None:
    """Whether the corpus has an answer, ``None`` where the case does not say."""
    return True if case.expected else case.answerable


def observe(case: GoldenCase, answer: Answer, in_force: Answer) -> Observed:
    """What the answer shows of a case that says whether it is answerable.

    Args:
        case: The case.
        answer: Its answer with all candidates, as far as they were kept.
        in_force: Its answer as a user gets it.
    """
    passages = list(_passages(case, answer))
    seen = [one for one in passages if one is not None]
    return Observed(
        answerable=bool(is_answerable(case)),
        first=_best(one.top_score for one in _first_attempts(answer)),
        best=_best([*_cosines(answer.blocks), *(one.top_score for one in answer.trace.attempts)]),
        by_words=any(_is_by_words(block) for block in answer.blocks),
        passages=tuple(seen),
        unseen=len(passages) - len(seen),
        status=in_force.evidence_status,
        by_model=in_force.evidence_score is not None,
    )


def _passages(case: GoldenCase, answer: Answer) -> Iterator[float | None]:
    """The cosine of the best block of each expected one; of any that suffice, the best alone."""
    each = [
        _best(_cosines([block for block in answer.blocks if names_it(name, block)]))
        for name in case.expected
    ]
    if case.require == "any" and each:
        yield _best(each)
    else:
        yield from each


def _cosines(blocks: Sequence[Block]) -> list[float | None]:
    return [block.scores.dense for block in blocks]


def _is_by_words(block: Block) -> bool:
    return block.scores.dense is None and block.scores.lexical is not None


def _first_attempts(answer: Answer) -> Iterator[Attempt]:
    """The first attempt of each corpus."""
    corpora = set[str]()
    for attempt in answer.trace.attempts:
        if attempt.corpus not in corpora:
            corpora.add(attempt.corpus)
            yield attempt


def _best(values: Iterator[float | None] | Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
