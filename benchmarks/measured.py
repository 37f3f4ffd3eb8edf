"""What was measured on one set, and its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from answerability import Judged
from asking import Answer
from retrieval_measures import (
    all_in_one_each,
    all_in_union,
    character_recall,
    halves,
    ndcg_at_10,
)
from sets import QualitySet
from ways import Way

NDCG, WHOLE, UNION, RECALL = "nDCG@10", "gold whole", "gold in union", "recall@5"
FIRST = 5

Values = Callable[[QualitySet, Sequence[Answer]], list[float]]


@dataclass(frozen=True)
class Measured:
    """One set: its sizes, the answers of each way, the judgements of each condition."""

    quality_set: QualitySet
    chunks: int
    ingest_s: float
    answers: dict[str, list[Answer]]
    judged: dict[str, list[Judged]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.quality_set.title

    @property
    def measures(self) -> tuple[str, ...]:
        """What is measured on this set."""
        return (WHOLE, UNION, RECALL) if self.quality_set.has_spans else (NDCG,)

    def halves(self, way: Way, measure: str) -> tuple[float, float, float]:
        """The measure over all questions, the tuning half and the reporting half."""
        return halves(_MEASURES[measure](self.quality_set, self.answers[way.title]))

    def statuses_of_found(self, way: Way) -> list[str]:
        """Evidence status of each lookup whose first five blocks hold the answer."""
        answers = self.answers[way.title]
        pairs = zip(self.quality_set.queries, answers, strict=True)
        if self.quality_set.has_spans:
            return [a.status for query, a in pairs if all_in_union(query.gold, a.spans[:FIRST])]
        return [a.status for query, a in pairs if set(query.relevant) & set(a.paths[:FIRST])]


def _ndcg(quality_set: QualitySet, answers: Sequence[Answer]) -> list[float]:
    relevant = [query.relevant for query in quality_set.queries]
    return ndcg_at_10(relevant, [answer.paths for answer in answers])


def _of_spans(measure: Callable[..., float]) -> Values:
    def values(quality_set: QualitySet, answers: Sequence[Answer]) -> list[float]:
        pairs = zip(quality_set.queries, answers, strict=True)
        return [float(measure(query.gold, answer.spans)) for query, answer in pairs]

    return values


_MEASURES: dict[str, Values] = {
    NDCG: _ndcg,
    WHOLE: _of_spans(all_in_one_each),
    UNION: _of_spans(all_in_union),
    RECALL: _of_spans(character_recall),
}
