"""A whole evaluation over fixtures: what turns it red, and what is compared with what."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from pincite.errors import ReportInvalid, RequestInvalid
from pincite.evaluation.fixtures import write_fixture
from pincite.evaluation.report.document import to_json
from pincite.evaluation.run import DIRECT, Evaluation, EvaluationRequest, run_evaluation
from pincite.testing.evaluation import block, golden_case, lookup_result

A, B = "docs/a.md", "docs/b.md"
CASE = {"id": "one", "query": "What of one?", "expectedSources": [A]}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with one case and a fixture in which it is found first."""
    (tmp_path / "cases.json").write_text(json.dumps({"cases": [CASE]}), "utf-8")
    answer(tmp_path, [block(A), block(B)])
    return tmp_path


def answer(place: Path, blocks: list[Any]) -> None:
    write_fixture(place / "fixtures", golden_case(**CASE), lookup_result(blocks))


def evaluate(place: Path, **given: Any) -> Evaluation:
    request = EvaluationRequest(
        str(place / "cases.json"), str(place / "out"), str(place / "fixtures"), **given
    )
    return asyncio.run(run_evaluation(request, DIRECT))


def accept(place: Path, name: str = "accepted.json", **given: Any) -> None:
    report = evaluate(place, accepted="none", **given).report
    (place / name).write_text(to_json(report), "utf-8")


def test_without_an_accepted_report_nothing_is_compared(place):
    evaluation = evaluate(place)
    assert (evaluation.diff, evaluation.problem) == (None, None)
    assert evaluation.folder == place / "out"
    assert evaluation.report["observed"]["origin"] == "fixtures"


def test_a_failed_case_is_the_problem(place):
    answer(place, [block(B)])
    problem = evaluate(place).problem
    assert problem is not None
    assert problem.message == "1 of 1 cases failed: one."


def test_many_failed_cases_are_not_all_named(place):
    cases = [{**CASE, "id": f"c{number}"} for number in range(7)]
    (place / "cases.json").write_text(json.dumps({"cases": cases}), "utf-8")
    for case in cases:
        write_fixture(place / "fixtures", golden_case(case["id"], **{"query": CASE["query"],
                      "expectedSources": [A]}), lookup_result())  # fmt: skip
    problem = evaluate(place).problem
    assert problem is not None
    assert problem.message == "7 of 7 cases failed: c0, c1, c2, c3, c4 and 2 more."


def test_a_worse_rank_than_accepted_is_the_problem_though_the_case_holds(place):
    accept(place)
    assert evaluate(place).problem is None
    answer(place, [block(B), block(A)])
    evaluation = evaluate(place)
    assert evaluation.report["ok"]
    assert evaluation.problem is not None
    assert evaluation.problem.message == "Worse than the accepted report: one."


@pytest.mark.parametrize("given", [{"allow": ["one"]}, {"fail_on": ["failed"]},
                                   {"accepted": "none"}])  # fmt: skip
def test_what_is_allowed_or_not_asked_for_is_no_problem(place, given):
    accept(place)
    answer(place, [block(B), block(A)])
    assert evaluate(place, **given).problem is None


def test_another_report_may_be_named(place):
    accept(place, "mine.json")
    answer(place, [block(B), block(A)])
    assert evaluate(place).problem is None
    assert evaluate(place, accepted=str(place / "mine.json")).problem is not None


def test_a_report_that_does_not_compare_is_told_before_anything_is_asked(place):
    accept(place, k=3)
    (place / "fixtures" / "one.json").unlink()
    with pytest.raises(ReportInvalid, match="measures 3 ranks, this run 5"):
        evaluate(place)


@pytest.mark.parametrize(
    "given", [{"k": 0}, {"k": 1_001}, {"k": True}, {"fail_on": ["worse"]}, {"allow": ["nobody"]}]
)
def test_a_request_that_is_wrong_is_told(place, given):
    accept(place)
    with pytest.raises(RequestInvalid):
        evaluate(place, **given)
