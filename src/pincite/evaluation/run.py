"""One evaluation from cases to report: its order, written once over a set of steps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pincite.errors import EvaluationFailed, ReportInvalid, RequestInvalid
from pincite.evaluation import asking
from pincite.evaluation.answer import Answer, read_answer
from pincite.evaluation.case_files import ACCEPTED, CaseSet, read_cases
from pincite.evaluation.cases import GoldenCase
from pincite.evaluation.diff.reports import FAIL_ON, KINDS, Diff, diff_reports, require_known
from pincite.evaluation.files import write_files
from pincite.evaluation.fixtures import read_fixtures
from pincite.evaluation.report.document import DEFAULT_K, Report, make_report, read_report
from pincite.evaluation.report.write import write_reports
from pincite.evaluation.verdict import judge
from pincite.wiring import current_workspace

NAMED = 5
MAX_K = 1_000
NO_REPORT = "none"


@dataclass(frozen=True)
class EvaluationRequest:
    """What to evaluate; values only, so that a flow can take them.

    ``out`` is the folder of the reports. ``fixtures`` is a folder of answers, ``""`` asks live.
    ``accepted`` is the report to compare with: ``""`` is the one beside the cases, if there is
    one, ``none`` compares with nothing. ``k`` are the ranks that measures count.

    Raises:
        RequestInvalid: ``k`` is no whole number from 1 to 1,000.
    """

    cases: str
    out: str
    fixtures: str = ""
    accepted: str = ""
    k: int = DEFAULT_K
    fail_on: Collection[str] = FAIL_ON
    allow: Collection[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or not 1 <= self.k <= MAX_K:
            raise RequestInvalid(f"k is {self.k!r}, a whole number from 1 to {MAX_K} is wanted.")


@dataclass(frozen=True)
class Evaluation:
    """What came out: the report, the folder it lies in, and what changed since the accepted one.

    ``regressions`` are the entries of ``diff`` that count against it.
    """

    report: Report
    folder: Path
    diff: Diff | None
    regressions: Sequence[dict[str, Any]]

    @property
    def problem(self) -> EvaluationFailed | None:
        """Why the evaluation is red, ``None`` where it is not."""
        failed = [case["id"] for case in self.report["cases"] if not case["passed"]]
        if failed:
            total = len(self.report["cases"])
            return EvaluationFailed(f"{len(failed)} of {total} cases failed: {_named(failed)}.")
        if self.regressions:
            worse = [str(entry["id"]) for entry in self.regressions]
            return EvaluationFailed(f"Worse than the accepted report: {_named(worse)}.")
        return None


@dataclass(frozen=True)
class EvaluationSteps:
    """The steps: functions as they are, or tasks of the same names."""

    read: Callable[[str], Awaitable[CaseSet]]
    prepare: Callable[[CaseSet], Awaitable[None]]
    ask: Callable[[GoldenCase], Awaitable[dict[str, Any]]]
    judge: Callable[[CaseSet, Sequence[dict[str, Any]], int], Awaitable[Report]]


async def run_evaluation(request: EvaluationRequest, steps: EvaluationSteps) -> Evaluation:
    """Ask every case's question, judge the answers, write the reports and compare them.

    Needs an open workspace, unless the answers are fixtures.

    Raises:
        CasesInvalid, FixtureContract, FixtureMismatch, ReportInvalid: What is given is wrong.
        ServiceError: There is no way to search.
    """
    # First: a report that does not compare is told before anything is asked.
    accepted = accepted_report(request)
    case_set = await steps.read(request.cases)
    _require_comparable(request, case_set, accepted)
    write_files(Path(request.out), {})
    if request.fixtures:
        answers = read_fixtures(Path(request.fixtures), case_set.cases)
        report = report_on(case_set.cases, answers, request.k, "fixtures")
    else:
        await steps.prepare(case_set)
        results = [await steps.ask(case) for case in case_set.cases]
        report = await steps.judge(case_set, results, request.k)
    evaluation = outcome(request, report, accepted)
    await asyncio.to_thread(write_reports, report, evaluation.folder)
    return evaluation


def _require_comparable(
    request: EvaluationRequest, case_set: CaseSet, accepted: Report | None
) -> None:
    """Tell before anything is asked what would be told after it."""
    for kind in request.fail_on:
        require_known("kind of change", kind, KINDS)
    known = {case.id for case in case_set.cases}
    known |= {case["id"] for case in accepted["cases"]} if accepted is not None else set()
    for case_id in request.allow:
        require_known("case", case_id, sorted(known))
    if accepted is not None and accepted["k"] != request.k:
        raise ReportInvalid(
            f"The accepted report measures {accepted['k']} ranks, this run {request.k}.",
            f"Run with --k {accepted['k']}, or accept a new report.",
        )


def outcome(request: EvaluationRequest, report: Report, accepted: Report | None) -> Evaluation:
    """The report beside the accepted one."""
    diff = diff_reports(accepted, report) if accepted is not None else None
    regressions = diff.fails(request.fail_on, request.allow) if diff is not None else ()
    return Evaluation(report, Path(request.out), diff, regressions)


def accepted_report(request: EvaluationRequest) -> Report | None:
    """The report to compare with, ``None`` for none.

    Raises:
        ReportInvalid: It is named and cannot be read, or is no report of this version.
    """
    if request.accepted == NO_REPORT:
        return None
    cases = Path(request.cases)
    beside = (cases if cases.is_dir() else cases.parent) / ACCEPTED
    if request.accepted or beside.is_file():
        return read_report(Path(request.accepted) if request.accepted else beside)
    return None


def report_on(
    cases: Sequence[GoldenCase], answers: Sequence[Answer], k: int, origin: str
) -> Report:
    """The report on the answers of the cases, in their order."""
    verdicts = [judge(case, answer) for case, answer in zip(cases, answers, strict=True)]
    return make_report(verdicts, k, origin)


async def read(path: str) -> CaseSet:
    """The cases of a file or folder."""
    return await asyncio.to_thread(read_cases, Path(path))


async def prepare(case_set: CaseSet) -> None:
    """Check the cases against the corpus and load what lookups need."""
    workspace = current_workspace()
    requests = [asking.case_request(workspace.settings, case) for case in case_set.cases]
    await asking.prepare(case_set.cases, requests, workspace)


async def ask(case: GoldenCase) -> dict[str, Any]:
    """The LookupResult of one case as its JSON document."""
    workspace = current_workspace()
    request = asking.case_request(workspace.settings, case)
    return (await asking.ask(request, workspace.lookup_parts)).as_dict()


async def judge_answers(case_set: CaseSet, results: Sequence[dict[str, Any]], k: int) -> Report:
    """The report on LookupResults, in the order of the cases."""
    pairs = zip(case_set.cases, results, strict=True)
    answers = [read_answer(result, f"The answer of case {one.id!r}") for one, result in pairs]
    return report_on(case_set.cases, answers, k, "live")


DIRECT = EvaluationSteps(read=read, prepare=prepare, ask=ask, judge=judge_answers)


def _named(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
