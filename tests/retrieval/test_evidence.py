import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pincite.embedding.hash import HashEmbedder
from pincite.embedding.port import EvidenceModel, ScoreProfile
from pincite.retrieval.candidates import Candidate, to_table
from pincite.retrieval.evidence import Evidence, assess
from pincite.retrieval.one_corpus import Selected
from pincite.retrieval.packing import Block
from pincite.retrieval.parts import Pinned
from pincite.retrieval.result import NO_RERANK
from pincite.retrieval.search import Lines, Question
from pincite.store.port import Mode

Make = Callable[..., Candidate]

MODEL = EvidenceModel(rare=4.0, long=2.0, cosine=1.0, cut=3.0)
VECTOR = HashEmbedder().vectors(["red apple"])[0]


def _judged(
    pool: Sequence[Candidate],
    weak: float | None = None,
    model: EvidenceModel | None = None,
    blocks: int = 1,
) -> Evidence:
    """The judgement of one corpus whose first candidates became blocks."""
    return assess([_block(one) for one in pool[:blocks]], [_selected(pool, weak, model)])


def _selected(
    pool: Sequence[Candidate], weak: float | None = None, model: EvidenceModel | None = None
) -> Selected:
    corpus = pool[0].corpus if pool else "docs"
    pinned = Pinned(corpus, 1, "c", None, 0, "space", ScoreProfile(evidence=model))
    question = Question("red apple", Mode.HYBRID, VECTOR, ("red", "appl"))
    table = to_table(pool)
    return Selected(corpus, table, table, question, Lines(None, None, weak), pinned, NO_RERANK)


def _block(candidate: Candidate) -> Block:
    return Block(candidate, candidate.content, None, None, False, 1)


@pytest.mark.parametrize(
    ("dense", "lexical", "weak", "status"),
    [
        (0.9, None, 0.8, "SUFFICIENT"),
        (0.8, None, 0.8, "SUFFICIENT"),
        (0.7, None, 0.8, "WEAK"),
        (0.7, None, None, "SUFFICIENT"),
        (None, None, None, "WEAK"),
        (None, 2.0, 0.8, "SUFFICIENT"),
    ],
)
def test_without_a_model_the_status_is_told_by_the_best_cosine(
    make: Make, dense: float | None, lexical: float | None, weak: float | None, status: str
) -> None:
    made = _judged([make("a", dense=dense, lexical=lexical)], weak)
    assert made == Evidence(status, None)


@pytest.mark.parametrize(
    ("threshold", "vector", "status"),
    [(0.8, VECTOR, "WEAK"), (0.8, None, "SUFFICIENT"), (None, VECTOR, "SUFFICIENT")],
)
def test_words_alone_are_not_enough_where_a_threshold_dropped_every_cosine(
    make: Make, threshold: float | None, vector: Any, status: str
) -> None:
    row = make("a", dense=None, lexical=2.0)
    run = _selected([row])
    question = Question("red apple", Mode.HYBRID, vector, ("red", "appl"))
    run = replace(run, lines=Lines(threshold, None, None), question=question)
    assert assess([_block(row)], [run]).status == status


def test_the_best_cosine_counts_wherever_it_stands(make: Make) -> None:
    pool = [make("a", dense=0.1), make("b", dense=0.9)]
    assert _judged(pool, weak=0.5).status == "SUFFICIENT"


def test_no_evidence_is_none(make: Make) -> None:
    assert _judged([], weak=0.5) == Evidence("NONE")
    assert _judged([make("a", dense=0.9)], blocks=0) == Evidence("NONE")
    assert assess([], []) == Evidence("NONE")


def test_a_model_judges_by_rare_words_long_words_and_the_cosine(make: Make) -> None:
    """Of two words each in one of two texts the best passage holds the shorter."""
    pool = [make("a", content="red", dense=0.8), make("b", content="apples", dense=0.9)]
    made = _judged(pool, model=MODEL)
    long = math.sqrt(3) / (math.sqrt(3) + 2)
    total = 4.0 * 0.5 + 2.0 * long + 0.8
    assert made.score == pytest.approx(1 / (1 + math.exp(3.0 - total)))
    assert made.status == "SUFFICIENT"


@pytest.mark.parametrize(("cut", "status"), [(6.49, "SUFFICIENT"), (6.51, "WEAK")])
def test_from_the_cut_on_it_is_enough(make: Make, cut: float, status: str) -> None:
    """All of the words and half a cosine are 6.5."""
    model = EvidenceModel(4.0, 2.0, 1.0, cut)
    assert _judged([make("a", content="red apple", dense=0.5)], model=model).status == status


def test_words_of_the_title_and_the_heading_count_as_the_passages_own(make: Make) -> None:
    rows = [
        make("a", content="red apple", dense=0.5),
        make("a", content="a", title="Red", heading="x > Apples", dense=0.5),
    ]
    whole, above = (_judged([row], model=MODEL).score for row in rows)
    assert whole == above


def test_a_best_passage_that_only_words_found_has_the_lowest_cosine_of_all(make: Make) -> None:
    others = [make("b", dense=0.7), make("c", dense=0.2)]
    words = make("a", content="red apple", dense=None, lexical=3.0)
    near = make("a", content="red apple", dense=0.2)
    expected = _judged([near, *others], model=MODEL).score
    assert _judged([words, *others], model=MODEL).score == pytest.approx(expected)


def test_a_weak_line_that_is_set_comes_before_the_model(make: Make) -> None:
    pool = [make("a", content="red apple", dense=0.5)]
    assert _judged(pool, weak=0.6, model=MODEL) == Evidence("WEAK")
    assert _judged(pool, weak=0.4, model=MODEL) == Evidence("SUFFICIENT")


def test_enough_in_one_of_several_corpora_is_enough(make: Make) -> None:
    good = [make("a", content="red apple", dense=0.9)]
    poor = [make("a", content="pear", dense=0.1, corpus="web")]
    runs = [_selected(poor, model=MODEL), _selected(good, model=MODEL)]
    made = assess([_block(poor[0]), _block(good[0])], runs)
    assert made == _judged(good, model=MODEL)
    assert _judged(poor, model=MODEL).status == "WEAK"


def test_a_corpus_none_of_whose_candidates_is_shown_is_not_judged(make: Make) -> None:
    good = [make("a", content="red apple", dense=0.9)]
    poor = [make("a", content="pear", dense=0.1, corpus="web")]
    runs = [_selected(poor, model=MODEL), _selected(good, model=MODEL)]
    assert assess([_block(poor[0])], runs) == _judged(poor, model=MODEL)


def test_a_judgement_is_always_a_share(make: Make) -> None:
    for factor in (-200.0, 0.0, 200.0):
        model = EvidenceModel(factor, factor, factor, 3.0)
        made = _judged([make("a", content="red apple", dense=1.0)], model=model)
        assert made.score is not None
        assert 0 <= made.score <= 1
