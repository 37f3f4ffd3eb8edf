"""Lines from golden cases and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import CasesInvalid, RequestInvalid
from pincite.evaluation.answer import Answer
from pincite.evaluation.calibration.calibrate import calibrate
from pincite.evaluation.calibration.result import Calibration
from pincite.evaluation.cases import GoldenCase
from pincite.retrieval.evidence import NONE, SUFFICIENT, WEAK
from pincite.testing.evaluation import answer, attempt, block, golden_case

Pair = tuple[GoldenCase, Answer]
RETRY = "UNFILTERED_VECTOR_RETRY"


def passage(source: str, dense: float | None, index: int = 0) -> dict[str, Any]:
    """A block with this cosine; with none it was found by full text."""
    lexical = 2.0 if dense is None else None
    scores = {
        **{"dense": dense, "lexical": lexical, "fused": 0.5},
        **dict.fromkeys(("rerank", "trust", "sourceRank")),
    }
    return block(source, index, scores=scores)


def tried(name: str, cosine: float | None) -> dict[str, Any]:
    return {**attempt(name), "topScore": cosine}


def answered(
    *blocks: dict[str, Any], first: float | None = None, query: str = "", **changes: Any
) -> Answer:
    """An answer to the one attempt; with ``first``, that was a filtered one before it."""
    cosines = [one["scores"]["dense"] for one in blocks if one["scores"]["dense"] is not None]
    best = max(cosines, default=None)
    attempts = [tried("UNFILTERED_VECTOR", best)]
    if first is not None:
        attempts = [tried("FILTERED_VECTOR", first), tried(RETRY, best)]
    return answer(blocks, query=query or "What?", trace={"attempts": attempts}, **changes)


def ours(number: int, cosine: float | None, best: float | None = None, **changes: Any) -> Pair:
    """An answerable case whose expected passage has this cosine."""
    case = golden_case(f"a{number}", expectedSources=["docs/a.md"])
    more = () if best is None else (passage("docs/b.md", best),)
    return case, answered(passage("docs/a.md", cosine), *more, **changes)


def other(number: int, cosine: float | None, **changes: Any) -> Pair:
    """An unanswerable case whose best passage has this cosine."""
    case = golden_case(f"u{number}", answerable=False)
    return case, answered(passage("docs/b.md", cosine), **changes)


def calibrated(pairs: Sequence[Pair], **options: Any) -> Calibration:
    return calibrate([case for case, _ in pairs], [one for _, one in pairs], **options)


def kinds(ours_at: Sequence[float], others_at: Sequence[float], **changes: Any) -> list[Pair]:
    return [
        *(ours(at, cosine, **changes) for at, cosine in enumerate(ours_at)),
        *(other(at, cosine, **changes) for at, cosine in enumerate(others_at)),
    ]


HIGH = [0.80 + at / 1_000 for at in range(20)]
LOW = [0.60 + at / 1_000 for at in range(20)]


def test_lines_of_two_kinds_that_lie_apart():
    found = calibrated(kinds(HIGH, LOW))
    assert found.threshold.proposed == 0.801
    assert (found.threshold.lost, found.threshold.of, found.threshold.accepted) == (1, 20, 0)
    assert found.low_quality.proposed == 0.801
    assert found.weak.proposed == 0.801
    assert found.at_lines.as_dict() == {
        "answerable": {SUFFICIENT: 19, WEAK: 0, NONE: 1},
        "unanswerable": {SUFFICIENT: 0, WEAK: 0, NONE: 20},
    }
    assert found.warnings == ("Only what was returned is seen; ask live to see what fell out"
                              " as well.",)  # fmt: skip


def test_nothing_may_be_lost():
    found = calibrated(kinds(HIGH, LOW), max_lost=0.0)
    assert [line.proposed for line in found.lines] == [0.80, 0.80, 0.80]
    assert (found.threshold.lost, found.weak.lost) == (0, 0)


def test_the_threshold_looks_at_expected_passages_the_others_at_the_best_one():
    found = calibrated([ours(at, 0.5, best=0.9) for at in range(20)] + kinds([], LOW))
    assert found.threshold.cut == 0.5
    assert (found.threshold.accepted, found.threshold.against) == (20, 20)
    assert (found.low_quality.cut, found.weak.cut) == (0.9, 0.9)


def test_a_source_counts_with_its_best_passage_an_evidence_key_with_its_own():
    blocks = [passage("docs/a.md", 0.9, 0), passage("docs/a.md", 0.3, 1)]
    by_source = golden_case("s", expectedSources=["docs/a.md"])
    by_key = golden_case("k", expectedEvidenceKeys=["docs/a.md#chunk-1"])
    unanswerable = other(0, 0.2)
    for case, cosine in ((by_source, 0.9), (by_key, 0.3)):
        assert calibrated([(case, answered(*blocks)), unanswerable]).threshold.cut == cosine


@pytest.mark.parametrize(("require", "of"), [("all", 2), ("any", 1)])
def test_of_passages_of_which_any_suffices_the_best_counts(require, of):
    case = golden_case("s", expectedSources=["docs/a.md", "docs/b.md"], require=require)
    blocks = [passage("docs/a.md", 0.9), passage("docs/b.md", 0.3)]
    found = calibrated([(case, answered(*blocks)), other(0, 0.2)]).threshold
    assert (found.of, found.cut) == (of, 0.3 if require == "all" else 0.9)


def test_low_quality_looks_at_the_first_attempt_and_weak_at_the_one_that_is_used():
    """The filter led nowhere; the retry finds what is there."""
    led_astray = [ours(at, 0.9, first=0.5) for at in range(20)]
    found = calibrated([*led_astray, *(ours(at + 20, 0.8) for at in range(20)), *kinds([], LOW)])
    assert found.low_quality.cut == 0.8
    assert (found.low_quality.lost, found.low_quality.of) == (20, 40)
    assert found.weak.cut == 0.8
    assert found.weak.lost == 0


def test_low_quality_is_never_under_the_threshold():
    pairs = [ours(at, 0.9, first=0.4) for at in range(20)] + kinds([], [0.1] * 20)
    found = calibrated(pairs)
    assert (found.threshold.cut, found.low_quality.cut) == (0.9, 0.9)


def test_equal_cosines_tell_nothing_apart():
    found = calibrated(kinds([0.7] * 20, [0.7] * 20))
    assert found.threshold.proposed == 0.7
    assert (found.low_quality.proposed, found.weak.proposed) == (None, None)
    assert "tells answerable" in found.low_quality.remark
    assert found.weak.remark == "It turns no unanswerable question away."


def test_ties_at_the_cut_are_all_kept():
    found = calibrated(kinds([0.5, *[0.7] * 19], LOW))
    assert (found.threshold.cut, found.threshold.lost) == (0.7, 1)
    found = calibrated(kinds([0.5, 0.5, *[0.7] * 18], LOW))
    assert (found.threshold.cut, found.threshold.lost) == (0.5, 0)


def test_a_cosine_of_0_is_one():
    pairs = [ours(0, 0.9, first=0.9), ours(1, 0.0), ours(2, 0.9), other(0, -0.5)]
    found = calibrated(pairs, max_lost=0.34)
    assert [(line.cut, line.lost) for line in found.lines] == [(0.9, 1), (0.9, 1), (0.9, 1)]


def test_a_rounded_line_loses_nothing_more():
    found = calibrated(kinds([0.87008], [0.1]), max_lost=0)
    assert [line.cut for line in found.lines] == [0.87, 0.87, 0.87]


def test_what_full_text_alone_found_has_no_cosine_and_is_weak_under_a_threshold():
    pairs = [ours(0, 0.8), ours(1, None), other(0, 0.3), other(1, None)]
    found = calibrated(pairs)
    assert (found.threshold.cut, found.threshold.of) == (0.8, 1)
    assert found.at_lines.answerable == {SUFFICIENT: 1, WEAK: 1}
    assert found.at_lines.unanswerable == {WEAK: 1, NONE: 1}
    assert any("without a cosine: 1." in one for one in found.warnings)


def test_an_answer_without_a_block_is_none_under_every_line():
    pairs = [ours(0, 0.8), (ours(1, 0.8)[0], answered()), other(0, 0.3)]
    found = calibrated(pairs)
    assert found.at_lines.answerable == {SUFFICIENT: 1, NONE: 1}
    assert (found.weak.lost, found.weak.of) == (0, 2)


def test_cases_that_say_nothing_of_an_answer_are_left_out():
    odd = golden_case("odd", forbiddenSources=["docs/z.md"]), answered(passage("docs/a.md", 0.1))
    found = calibrated([odd, *kinds(HIGH, LOW)])
    assert (found.left_out, found.answerable, found.unanswerable) == (1, 20, 20)
    assert found.weak.cut == 0.801


def test_an_answerable_case_need_not_name_its_evidence():
    case = golden_case("a", answerable=True), answered(passage("docs/a.md", 0.8))
    found = calibrated([case, other(0, 0.3)])
    assert found.threshold.proposed is None
    assert "No case names evidence" in found.threshold.remark
    assert (found.low_quality.proposed, found.weak.proposed) == (0.8, 0.8)


def now(pairs: Sequence[Pair], statuses: Sequence[str], score: float | None) -> list[Answer]:
    """The same answers with these statuses in force."""
    changes = [{"evidence_status": one, "evidence_score": score} for one in statuses]
    return [a.model_copy(update=c) for (_, a), c in zip(pairs, changes, strict=True)]


# A line that loses 1 of 20 accepts 15 of 20.
MIXED = kinds(HIGH, [0.806] * 15 + [0.7] * 5)


@pytest.mark.parametrize(
    ("lost", "accepted", "score", "proposed"),
    [
        (1, 14, None, False),  # Loses as few and accepts fewer.
        (1, 15, None, False),  # The same.
        (0, 15, None, False),
        (1, 16, None, True),
        (2, 14, None, True),  # Another line, which loses more than allowed.
        (2, 14, 0.9, False),  # The model's own judgement, which tells them apart as well.
        (2, 13, 0.9, False),
        (3, 14, 0.9, True),
        (0, 20, 0.9, True),
    ],
)
def test_a_weak_line_is_proposed_where_it_is_better(lost, accepted, score, proposed):
    statuses = [WEAK] * lost + [SUFFICIENT] * (20 - lost + accepted) + [WEAK] * (20 - accepted)
    found = calibrated(MIXED, as_now=now(MIXED, statuses, score))
    assert (found.weak.lost, found.weak.accepted) == (1, 15)
    assert (found.at_lines.lost, found.at_lines.accepted) == (1, 15)
    assert (found.weak.proposed is not None) == proposed
    assert (found.in_force.lost, found.in_force.accepted) == (lost, accepted)
    if not proposed:
        assert f"it loses {lost} of 20 and accepts {accepted} of 20" in found.weak.remark
        assert ("more than was allowed" in found.weak.remark) == (lost > 1)


def test_the_curve_rises_in_what_it_loses_and_falls_in_what_it_accepts():
    found = calibrated(MIXED)
    points = [(point.cut, point.lost, point.accepted) for point in found.curve]
    assert points == sorted(points)
    assert points[0] == (0.801, 0.05, 0.75)
    accepted = [point.accepted for point in found.curve]
    assert accepted == sorted(accepted, reverse=True)
    assert points[-1] == (pytest.approx(0.819), 0.95, 0.0)


def test_too_few_of_a_kind_is_told():
    found = calibrated(kinds(HIGH[:3], LOW))
    assert any("Fewer than 20 answerable questions (3)" in one for one in found.warnings)
    assert not any("unanswerable" in one for one in found.warnings)


def test_degraded_answers_are_told():
    lost = {"stage": "embed", "corpus": "docs", "code": "embedder_unreachable", "message": "."}
    case, given = ours(30, 0.8)
    trace = given.retrieval_trace.model_dump(by_alias=True)
    bad = answer([passage("docs/a.md", 0.8)], trace={**trace, "degradations": [lost]})
    found = calibrated([(case, bad), *kinds(HIGH, LOW)])
    assert any(one.startswith("Degraded answers: 1.") for one in found.warnings)


@pytest.mark.parametrize(
    ("pairs", "what"),
    [
        (kinds([], LOW), "No case is answerable"),
        (kinds(HIGH, []), "No case is unanswerable"),
        ([ours(0, None), other(0, 0.5)], "lexical mode"),
        ([ours(0, None), other(0, None)], "lexical mode"),
    ],
)
def test_what_cannot_be_calibrated_is_an_error(pairs, what):
    with pytest.raises(CasesInvalid, match=what):
        calibrated(pairs)


@pytest.mark.parametrize("max_lost", [-0.1, 1.0, float("nan")])
def test_the_share_that_may_be_lost_is_one(max_lost):
    with pytest.raises(RequestInvalid, match="max_lost"):
        calibrated(kinds(HIGH, LOW), max_lost=max_lost)


COSINES = st.floats(0, 1, allow_nan=False, width=32)
FEW = st.lists(COSINES, min_size=1, max_size=12)
SHARES = st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.5, 0.9])


@given(FEW, FEW, SHARES)
def test_no_line_loses_more_than_allowed(answerable, unanswerable, share):
    found = calibrated(kinds(answerable, unanswerable), max_lost=share)
    for line in (found.threshold, found.weak):
        assert line.lost <= share * line.of + 1e-9
    assert found.low_quality.cut is None or found.low_quality.cut >= found.threshold.cut
    assert found.weak.cut >= found.threshold.cut


@given(FEW, FEW, SHARES, SHARES)
def test_to_allow_more_never_lowers_a_line(answerable, unanswerable, one, another):
    pairs = kinds(answerable, unanswerable)
    less, more = (calibrated(pairs, max_lost=share) for share in sorted((one, another)))
    assert less.threshold.cut <= more.threshold.cut
    assert less.weak.cut <= more.weak.cut


@given(FEW, FEW, SHARES, st.randoms(use_true_random=False))
def test_the_order_of_cases_does_not_matter(answerable, unanswerable, share, random):
    pairs = kinds(answerable, unanswerable)
    mixed = random.sample(pairs, len(pairs))
    assert calibrated(mixed, max_lost=share) == calibrated(pairs, max_lost=share)
