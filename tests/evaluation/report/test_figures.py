"""Figures in words: what rests on nothing is no figure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.evaluation.report.document import compared, make_report
from pincite.evaluation.report.figures import (
    ended,
    failed_lines,
    hit_columns,
    latencies,
    mean,
    share,
    verdict_line,
)
from pincite.evaluation.report.shape import Expected, Mean, ReportShape, read_shape
from pincite.evaluation.report.text import NOTHING
from pincite.evaluation.verdict import Hit
from pincite.testing.evaluation import block, dropped, golden_case, verdict
from pincite.testing.evaluation_reports import LEAVE, sample_report, sample_verdicts


def shape(**given: object) -> ReportShape:
    return read_shape({**sample_report(), **given}, "It")


def test_the_verdict_counts_failed_cases() -> None:
    passing = verdict(golden_case("a", expectedSources=[LEAVE]), [block(LEAVE)])
    also = verdict(golden_case("b", expectedSources=[LEAVE]), [block(LEAVE)])
    lines = [verdict_line(read_shape(make_report(one), "It")) for one in (
        sample_verdicts(), [passing], [passing, also], [],
    )]  # fmt: skip
    assert lines == [
        "5 of 9 cases failed",
        "The only case passed",
        "All 2 cases passed",
        "No case was evaluated",
    ]


@pytest.mark.parametrize(
    ("value", "valid", "of", "words"),
    [
        (0.93333, 14, 14, "0.933"),
        (0.93333, 12, 14, "0.933 (12 of 14)"),
        (0.0, 3, 3, "0.000"),
        (None, 0, 14, "0 of 14"),
        (None, 0, 0, "0 of 0"),
    ],
)
def test_a_mean_says_what_it_rests_on(value: float | None, valid: int, of: int, words: str) -> None:
    assert mean(Mean(value=value, valid=valid, of=of)) == words


@given(st.integers(0, 5_000), st.integers(0, 5_000))
def test_a_share_is_whole_only_where_it_is_all(number: int, more: int) -> None:
    words = share(number, number + more)
    assert ("(100 %)" in words) == (number > 0 and more == 0)
    assert ("(0 %)" in words) == (number == 0 and more > 0)
    assert share(0, 0) == "0 of 0"


def test_where_an_expected_one_ended() -> None:
    def one(rank: int | None, stage: str, reason: str) -> str:
        return ended(Expected(name="a", rank=rank, stage=stage, reason=reason))

    assert one(2, "returned", "returned") == "rank 2"
    assert one(None, "search", "not_recalled") == "not found by search"
    assert one(None, "document_cap", "document_cap") == "dropped at document_cap"
    assert one(None, "pack", "budget") == "dropped at pack (budget)"


def test_each_failure_is_a_line_with_stage_and_reason() -> None:
    lines = [(one.case, one.assertion, one.stage, one.reason) for one in failed_lines(shape())]
    assert lines == [
        ("partial", "expectedSources", "document_cap", "document_cap"),
        ("lost", "expectedSources", "pack", "budget"),
        ("unknown", "expectedSources", "search", "not_recalled"),
        ("worded", "mustContain", "pack", "–"),
        ("forbidden", "forbiddenSources", "search", "–"),
    ]


def test_each_failure_keeps_its_own_reason() -> None:
    found = verdict(
        golden_case("lost", expectedSources=["a.md", "b.md"], mustContain=["x"]),
        [],
        [dropped("a.md", 0, "budget", "pack"), dropped("b.md", 0, "duplicate", "pack")],
    )
    lines = failed_lines(read_shape(make_report([found]), "It"))
    assert [line.reason for line in lines] == ["budget", "duplicate", NOTHING]


def test_only_hit_classes_that_occur_are_columns_best_first() -> None:
    assert hit_columns(shape().groups) == [
        Hit.TOP1,
        Hit.RETURNED,
        Hit.NO_EVIDENCE_OK,
        Hit.PARTIAL,
        Hit.DROPPED,
        Hit.NOT_RECALLED,
        Hit.FORBIDDEN,
    ]


def test_latencies_are_those_of_the_cases() -> None:
    found = latencies(shape())
    assert found is not None
    assert (found.cases, found.p50, found.p95, found.longest) == (9, 20, 45, 45)
    assert latencies(read_shape(compared(sample_report()), "It")) is None
