from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.retrieval.candidates import Candidate
from pincite.retrieval.postprocess import cap, cut, evidence_status, merge, order, threshold

Make = Callable[..., Candidate]

SCORES = st.none() | st.floats(-1, 1) | st.just(float("nan"))
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c#chunk-1", None]), st.integers(0, 3), SCORES),
    max_size=25,
)


def _rows(make: Make, rows: list[tuple[str | None, int, float | None]]) -> list[Candidate]:
    return [make(doc_id, index, score=score, dense=score) for doc_id, index, score in rows]


def _keys(candidates: tuple[Candidate, ...]) -> list[str]:
    return [candidate.evidence_key for candidate in candidates]


def test_the_threshold_keeps_what_reaches_the_line(make: Make) -> None:
    kept = threshold([make("a", dense=0.5), make("b", dense=0.49)], 0.5)
    assert _keys(kept.candidates) == ["a#chunk-0"]
    assert [(d.evidence_key, d.reason) for d in kept.dropped] == [("b#chunk-0", "below_threshold")]


def test_no_threshold_keeps_all(make: Make) -> None:
    kept = threshold([make("a", dense=-1.0), make("b", dense=None)], None)
    assert len(kept.candidates) == 2


def test_what_only_the_words_found_is_exempt_from_the_threshold(make: Make) -> None:
    kept = threshold([make("a", dense=None, lexical=3.0, hit_reasons=("lexical",))], 0.9)
    assert len(kept.candidates) == 1


def test_a_dense_hit_without_a_usable_score_does_not_reach_a_threshold(make: Make) -> None:
    assert not threshold([make("a", dense=None)], -1.0).candidates


def test_equal_scores_are_ordered_by_key_and_missing_ones_come_last(make: Make) -> None:
    rows = [make("b", score=0.5), make("z", score=None), make("a", score=0.5), make("c", score=-1)]
    assert _keys(order(rows).candidates) == ["a#chunk-0", "b#chunk-0", "c#chunk-0", "z#chunk-0"]


def test_equal_keys_become_the_higher_ranked_with_all_reasons(make: Make) -> None:
    first = make("a", content="kept", dense=0.9, hit_reasons=("dense",))
    second = make("a", content="other", lexical=4.0, hit_reasons=("lexical", "dense"))
    merged = merge([first, second])
    (made,) = merged.candidates
    assert (made.content, made.hit_reasons) == ("kept", ("dense", "lexical"))
    assert (made.dense, made.lexical) == (0.9, 4.0)
    assert [d.reason for d in merged.dropped] == ["duplicate"]


def test_equal_keys_of_two_corpora_stay_apart(make: Make) -> None:
    assert len(merge([make("a"), make("a", corpus="web")]).candidates) == 2


def test_chunks_of_one_source_are_never_merged(make: Make) -> None:
    same = [make("a", index, content="same", source="s") for index in range(3)]
    assert len(merge(same).candidates) == 3


def test_a_document_is_capped_and_candidates_without_one_are_not(make: Make) -> None:
    rows = [make("a", 0), make(None, 0), make("a", 1), make(None, 1), make("a", 2), make(None, 2)]
    capped = cap(rows, 2)
    assert [d.evidence_key for d in capped.dropped] == ["a#chunk-2"]
    assert {d.reason for d in capped.dropped} == {"document_cap"}


def test_the_cut_keeps_the_first(make: Make) -> None:
    rows = [make("a", index) for index in range(4)]
    made = cut(rows, 2)
    assert _keys(made.candidates) == ["a#chunk-0", "a#chunk-1"]
    assert [d.reason for d in made.dropped] == ["return_n", "return_n"]


@pytest.mark.parametrize(
    ("dense", "lexical", "weak", "status"),
    [
        (0.9, None, 0.8, "SUFFICIENT"),
        (0.7, None, 0.8, "WEAK"),
        (0.7, None, None, "SUFFICIENT"),
        (None, None, None, "WEAK"),
        (None, 2.0, 0.8, "SUFFICIENT"),
    ],
)
def test_the_status_is_told_by_the_best_cosine(
    make: Make, dense: float | None, lexical: float | None, weak: float | None, status: str
) -> None:
    assert evidence_status([make("a", dense=dense, lexical=lexical)], weak) == status


def test_no_evidence_is_none() -> None:
    assert evidence_status([], 0.5) == "NONE"


@settings(max_examples=60)
@given(ROWS, st.randoms())
def test_order_does_not_depend_on_the_order_of_arrival(
    make: Make, rows: list[tuple[str | None, int, float | None]], random: object
) -> None:
    candidates = list(merge(_rows(make, rows)).candidates)
    shuffled = candidates.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert _keys(order(shuffled).candidates) == _keys(order(candidates).candidates)


@settings(max_examples=60)
@given(ROWS, st.none() | st.floats(-1, 1), st.integers(1, 4), st.integers(1, 8))
def test_every_candidate_is_kept_or_dropped_with_a_reason(
    make: Make,
    rows: list[tuple[str | None, int, float | None]],
    line: float | None,
    per_document: int,
    return_n: int,
) -> None:
    candidates: tuple[Candidate, ...] = tuple(_rows(make, rows))
    rules = [
        lambda c: threshold(c, line),
        order,
        merge,
        lambda c: cap(c, per_document),
        lambda c: cut(c, return_n),
    ]
    for rule in rules:
        made = rule(candidates)
        before = Counter(c.evidence_key for c in candidates)
        after = Counter(_keys(made.candidates)) + Counter(d.evidence_key for d in made.dropped)
        assert after == before
        candidates = made.candidates
    assert len(candidates) <= return_n
    assert len(set(_keys(candidates))) == len(candidates)
    assert (
        max(Counter(c.doc_id for c in candidates if c.doc_id).values(), default=0) <= per_document
    )


@settings(max_examples=60)
@given(ROWS, st.integers(1, 8), st.integers(1, 8))
def test_a_wider_cut_only_adds_at_the_end(
    make: Make, rows: list[tuple[str | None, int, float | None]], one: int, other: int
) -> None:
    considered = merge(order(_rows(make, rows)).candidates).candidates
    short, long = sorted((one, other))
    wide = cut(considered, long).candidates
    assert cut(considered, short).candidates == wide[:short]


def test_rules_do_not_change_what_they_are_given(make: Make) -> None:
    rows = (make("a", dense=0.1, score=0.1), make("a", dense=0.2, score=0.2))
    before = tuple(replace(row) for row in rows)
    for rule in (order, merge, lambda c: cap(c, 1), lambda c: cut(c, 1)):
        rule(rows)
    assert rows == before
