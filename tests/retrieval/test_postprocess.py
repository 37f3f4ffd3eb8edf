from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.retrieval.candidates import Candidate, from_table, to_table
from pincite.retrieval.postprocess import (
    Kept,
    cap,
    current,
    cut,
    dropped,
    merge,
    order,
    split,
    threshold,
)
from pincite.schemas.candidates import CANDIDATES
from pincite.schemas.dropped import DROPPED

Make = Callable[..., Candidate]
Row = tuple[str | None, int, float | None]

SCORES = st.none() | st.floats(-1, 1) | st.just(float("nan"))
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c#chunk-1", None]), st.integers(0, 3), SCORES),
    max_size=25,
)
RULES: Mapping[str, Callable[[pa.Table], Kept]] = {
    "current": lambda table: current(table, {"a": 2}),
    "threshold": lambda table: threshold(table, 0.0),
    "order": order,
    "merge": merge,
    "cap": lambda table: cap(table, 1),
    "cut": lambda table: cut(table, 2),
}


def _table(make: Make, rows: Sequence[Row]) -> pa.Table:
    return to_table(make(doc_id, index, score=score, dense=score) for doc_id, index, score in rows)


def _keys(candidates: pa.Table) -> list[str]:
    keys: list[str] = candidates["evidence_key"].to_pylist()
    return keys


def _dropped(kept: Kept) -> list[tuple[str, str]]:
    return [(line["evidence_key"], line["reason"]) for line in kept.dropped.to_pylist()]


@pytest.mark.parametrize(
    ("version", "stamped", "keeps"),
    [(1, 2, False), (2, 2, True), (3, 2, True), (1, None, False), (None, 2, True)],
    ids=["older", "same", "newer", "removed", "unversioned"],
)
def test_a_row_older_than_the_stamped_version_or_of_a_removed_document_is_stale(
    make: Make, version: int | None, stamped: int | None, keeps: bool
) -> None:
    """A newer row is journalled already, so that it can be cited."""
    rows = to_table([make("a", doc_version=version), make("b", doc_version=1)])
    versions = {"b": 1} if stamped is None else {"a": stamped, "b": 1}
    kept = current(rows, versions)
    assert ("a#chunk-0" in _keys(kept.candidates)) == keeps
    assert _dropped(kept) == ([] if keeps else [("a#chunk-0", "stale")])


def test_rows_without_a_document_have_no_version_to_compare(make: Make) -> None:
    rows = to_table([make(None, doc_version=1), make(None, 1, doc_version=None)])
    assert _keys(current(rows, {}).candidates) == ["vector:v0", "vector:v1"]


def test_the_threshold_keeps_what_reaches_the_line(make: Make) -> None:
    kept = threshold(to_table([make("a", dense=0.5), make("b", dense=0.49)]), 0.5)
    assert _keys(kept.candidates) == ["a#chunk-0"]
    assert _dropped(kept) == [("b#chunk-0", "below_threshold")]


def test_no_threshold_keeps_all(make: Make) -> None:
    kept = threshold(to_table([make("a", dense=-1.0), make("b", dense=None)]), None)
    assert len(kept.candidates) == 2


def test_what_only_the_words_found_is_exempt_from_the_threshold(make: Make) -> None:
    words = make("a", dense=None, lexical=3.0, hit_reasons=("lexical", "l0_category"))
    assert len(threshold(to_table([words]), 0.9).candidates) == 1


def test_what_both_legs_found_is_not_exempt(make: Make) -> None:
    both = make("a", dense=0.1, lexical=3.0, hit_reasons=("dense", "lexical"))
    assert _dropped(threshold(to_table([both]), 0.9)) == [("a#chunk-0", "below_threshold")]


def test_a_dense_hit_without_a_usable_score_does_not_reach_a_threshold(make: Make) -> None:
    assert not len(threshold(to_table([make("a", dense=None)]), -1.0).candidates)
    assert not len(threshold(to_table([make("a", dense=float("nan"))]), -1.0).candidates)


def test_equal_scores_are_ordered_by_key_and_missing_ones_come_last(make: Make) -> None:
    rows = [
        make("b", score=0.5),
        make("z", score=None),
        make("y", score=float("nan")),
        make("a", score=0.5),
        make("c", score=-1),
    ]
    ordered = order(to_table(rows)).candidates
    assert [key[0] for key in _keys(ordered)] == ["a", "b", "c", "y", "z"]


def test_equal_keys_become_the_higher_ranked_with_all_reasons(make: Make) -> None:
    first = make("a", content="kept", dense=0.9, hit_reasons=("dense",))
    second = make("a", content="other", dense=0.1, lexical=4.0, hit_reasons=("lexical", "dense"))
    merged = merge(to_table([first, second]))
    (made,) = from_table(merged.candidates)
    assert (made.content, made.hit_reasons) == ("kept", ("dense", "lexical"))
    assert (made.dense, made.lexical) == (0.9, 4.0)
    assert _dropped(merged) == [("a#chunk-0", "duplicate")]


def test_equal_keys_of_two_corpora_stay_apart(make: Make) -> None:
    assert len(merge(to_table([make("a"), make("a", corpus="web")])).candidates) == 2


def test_chunks_of_one_source_are_never_merged(make: Make) -> None:
    same = [make("a", index, content="same", source="s") for index in range(3)]
    assert len(merge(to_table(same)).candidates) == 3


def test_a_document_is_capped_and_candidates_without_one_are_not(make: Make) -> None:
    rows = [make("a", 0), make(None, 0), make("a", 1), make(None, 1), make("a", 2), make(None, 2)]
    assert _dropped(cap(to_table(rows), 2)) == [("a#chunk-2", "document_cap")]


def test_documents_of_one_name_in_two_corpora_are_capped_apart(make: Make) -> None:
    rows = [make("a", 0), make("a", 0, corpus="web"), make("a", 1, corpus="web")]
    capped = cap(to_table(rows), 1).dropped.to_pylist()
    assert [(line["corpus"], line["evidence_key"]) for line in capped] == [("web", "a#chunk-1")]


def test_the_cut_keeps_the_first(make: Make) -> None:
    made = cut(to_table([make("a", index) for index in range(4)]), 2)
    assert _keys(made.candidates) == ["a#chunk-0", "a#chunk-1"]
    assert [reason for _, reason in _dropped(made)] == ["return_n", "return_n"]


def test_what_falls_out_is_told_with_its_corpus_and_score(make: Make) -> None:
    rows = to_table([make("a", corpus="web", source="a.md", score=0.25), make("b", score=None)])
    assert dropped(rows, "budget").to_pylist() == [
        {
            "evidence_key": "a#chunk-0",
            "corpus": "web",
            "source": "a.md",
            "reason": "budget",
            "score": 0.25,
        },
        {
            "evidence_key": "b#chunk-0",
            "corpus": "docs",
            "source": "",
            "reason": "budget",
            "score": None,
        },
    ]


def test_a_split_keeps_both_halves_in_order(make: Make) -> None:
    rows = to_table([make("a", index) for index in range(4)])
    made = split(rows, [True, False, True, False], "r")
    assert _keys(made.candidates) == ["a#chunk-0", "a#chunk-2"]
    assert _dropped(made) == [("a#chunk-1", "r"), ("a#chunk-3", "r")]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_keeps_the_contracts_and_what_it_is_given(
    make: Make, rule: Callable[[pa.Table], Kept]
) -> None:
    rows = [make("a", dense=-0.5, score=-0.5), make("a", 0, dense=0.2, score=0.2), make("b")]
    for table in (to_table(rows), CANDIDATES.empty()):
        before = table.to_pylist()
        made = rule(table)
        assert made.candidates.schema.equals(CANDIDATES.schema)
        assert made.dropped.schema.equals(DROPPED.schema)
        assert table.to_pylist() == before


@settings(max_examples=60, deadline=None)
@given(ROWS, st.randoms())
def test_order_does_not_depend_on_the_order_of_arrival(
    make: Make, rows: list[Row], random: Any
) -> None:
    candidates = merge(_table(make, rows)).candidates
    ranks = random.sample(range(len(candidates)), len(candidates))
    shuffled = candidates.take(pa.array(ranks, pa.int64()))
    assert _keys(order(shuffled).candidates) == _keys(order(candidates).candidates)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.none() | st.floats(-1, 1), st.integers(1, 4), st.integers(1, 8))
def test_every_candidate_is_kept_or_dropped_with_a_reason(
    make: Make, rows: list[Row], line: float | None, per_document: int, return_n: int
) -> None:
    candidates = _table(make, rows)
    rules = [
        lambda c: current(c, {"a": 1, "b": 2}),
        lambda c: threshold(c, line),
        order,
        merge,
        lambda c: cap(c, per_document),
        lambda c: cut(c, return_n),
    ]
    for rule in rules:
        made = rule(candidates)
        after = Counter(_keys(made.candidates)) + Counter(key for key, _ in _dropped(made))
        assert after == Counter(_keys(candidates))
        candidates = made.candidates
    assert len(candidates) <= return_n
    assert len(set(_keys(candidates))) == len(candidates)
    of_one = Counter(doc_id for doc_id in candidates["doc_id"].to_pylist() if doc_id)
    assert max(of_one.values(), default=0) <= per_document


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 8), st.integers(1, 8))
def test_a_wider_cut_only_adds_at_the_end(
    make: Make, rows: list[Row], one: int, other: int
) -> None:
    considered = merge(order(_table(make, rows)).candidates).candidates
    short, long = sorted((one, other))
    wide = cut(considered, long).candidates
    assert _keys(cut(considered, short).candidates) == _keys(wide)[:short]
