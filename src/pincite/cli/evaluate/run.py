"""``pincite eval run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pincite.cli.evaluate.options import FAIL_ON, Allow, Cases, FailOn, golden_cases, names
from pincite.cli.output import WITH_FAILURES, counted, note, print_json, say
from pincite.cli.wrapping import harmless

if TYPE_CHECKING:
    from pincite.evaluation.run import Evaluation, EvaluationRequest
    from pincite.settings import Settings


def run(
    cases: Cases = None,
    live: Annotated[bool, typer.Option("--live", help="Ask the lookup (the default).")] = False,
    fixtures: Annotated[
        Path | None, typer.Option(help="Judge the answers kept in this folder instead.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the reports; default: evaluation in the home.")
    ] = None,
    accepted: Annotated[
        str, typer.Option(help="Report to compare with; none; default: the one beside the cases.")
    ] = "",
    k: Annotated[int, typer.Option("--k", min=1, help="Ranks that measures count.")] = 5,
    fail_on: FailOn = FAIL_ON,
    allow: Allow = None,
    direct: Annotated[bool, typer.Option(help="Run without an orchestrator.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> int:
    """Ask golden cases, judge the answers, and write the reports."""
    from pincite.errors import RequestInvalid
    from pincite.evaluation.run import EvaluationRequest
    from pincite.settings import load_settings

    if live and fixtures is not None:
        raise RequestInvalid("Both --live and --fixtures were given.", "Give one of the two.")
    settings = load_settings()
    request = EvaluationRequest(
        str((cases or golden_cases()).absolute()),
        str((out or settings.home / "evaluation").absolute()),
        "" if fixtures is None else str(fixtures.absolute()),
        accepted if accepted in ("", "none") else str(Path(accepted).absolute()),
        k,
        names(fail_on),
        tuple(allow or ()),
    )
    evaluation = _evaluate(settings, request, direct=direct)
    if json:
        print_json(evaluation.report)
    else:
        _print(evaluation)
    if evaluation.problem is not None:
        note(str(evaluation.problem))
    return 0 if evaluation.problem is None else WITH_FAILURES


def _evaluate(settings: Settings, request: EvaluationRequest, *, direct: bool) -> Evaluation:
    import asyncio

    from pincite.cli.orchestrator import use_prefect
    from pincite.cli.runner import run as run_inside
    from pincite.evaluation.case_files import read_cases
    from pincite.evaluation.run import DIRECT, accepted_report, run_evaluation

    if request.fixtures:
        # Nothing is opened: no store, no catalogue, no embedder.
        return asyncio.run(run_evaluation(request, DIRECT))
    if direct:
        return run_inside(settings, lambda _: run_evaluation(request, DIRECT))
    # What is wrong is told before somebody waits for a server.
    read_cases(Path(request.cases))
    accepted_report(request)
    use_prefect(settings, "--direct goes without")
    from pincite.flows.evaluate import run_evaluate

    return run_inside(settings, lambda _: run_evaluate(request))


def _print(evaluation: Evaluation) -> None:
    from pincite.evaluation.report.figures import mean
    from pincite.evaluation.report.shape import Mean

    overall = evaluation.report["groups"][0]
    say(f"{counted(overall['cases'], 'case')}, {overall['passed']:,} passed")
    say("  " + ", ".join(f"{number:,} {hit}" for hit, number in overall["hits"].items()))
    for name, measure in overall["measures"].items():
        say(f"  {name:<13} {mean(Mean.model_validate(measure))}")
    for case in evaluation.report["cases"]:
        if not case["passed"]:
            _print_failed(case)
    if evaluation.diff is not None:
        regressions = counted(len(evaluation.regressions), "regression")
        say(f"Since the accepted report: {regressions}")
        for entry in evaluation.regressions:
            say(f"  {harmless(entry['id'])}: {entry['before']} -> {entry['after']}")
    say(f"Reports: {evaluation.folder}")


def _print_failed(case: dict[str, Any]) -> None:
    say(f"FAILED  {harmless(case['id'])}  {case['hit']}")
    for failure in case["failures"]:
        message = harmless(failure["message"])
        say(f"        {failure['assertion']} at {failure['stage']}: {message}")
