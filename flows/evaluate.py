"""Evaluate: ask the golden cases, judge the answers, and fail where retrieval got worse."""

# Annotations stay values here: Prefect pickles flows, and text would lose its names.
from typing import Annotated, Any

from prefect import flow
from prefect.runtime import flow_run
from pydantic import Field

from pincite.errors import EvaluationFailed
from pincite.evaluation.diff.reports import FAIL_ON
from pincite.evaluation.report.document import DEFAULT_K
from pincite.evaluation.run import (
    MAX_K,
    Evaluation,
    EvaluationRequest,
    EvaluationSteps,
    accepted_report,
    outcome,
    run_evaluation,
)
from pincite.tasks import evaluate as tasks
from pincite.wiring import open_workspace

STEPS = EvaluationSteps(read=tasks.read, prepare=tasks.prepare, ask=tasks.ask, judge=tasks.judge)


def _run_name() -> str:
    return f"evaluate {flow_run.parameters['cases'].rstrip('/').rpartition('/')[2]}"


@flow(name="evaluate", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
async def evaluate(
    cases: Annotated[str, Field(min_length=1, description="file or folder of golden cases")],
    out: Annotated[str, Field(min_length=1, description="folder that the reports go to")],
    accepted: Annotated[
        str, Field(description="report to compare with; '' = the one beside the cases, none")
    ] = "",
    k: Annotated[int, Field(ge=1, le=MAX_K, description="ranks that measures count")] = DEFAULT_K,
    fail_on: Annotated[list[str] | None, Field(description="changes that count")] = None,
    allow: Annotated[list[str] | None, Field(description="cases that may change")] = None,
) -> dict[str, Any]:
    """Ask golden cases live and judge the answers.

    Returns:
        The report. The run fails when a case does, or when the report is worse than the accepted
        one; artifacts and files are written before.
    """
    request = EvaluationRequest(
        cases,
        out,
        accepted=accepted,
        k=k,
        fail_on=FAIL_ON if fail_on is None else fail_on,
        allow=allow or (),
    )
    async with open_workspace():
        evaluation = await run_evaluation(request, STEPS)
        await tasks.publish(evaluation)
    problem = evaluation.problem
    if problem is not None:
        problem.attributes["report"] = evaluation.report
        raise problem
    return evaluation.report


async def run_evaluate(request: EvaluationRequest) -> Evaluation:
    """Run the flow and give what came out, also where that ended the run as failed.

    Raises:
        PinciteError: The evaluation could not be done.
    """
    # Before the run: it may be what the run replaces.
    accepted = accepted_report(request)
    try:
        report = await evaluate(
            request.cases,
            request.out,
            request.accepted,
            request.k,
            list(request.fail_on),
            list(request.allow),
        )
    except EvaluationFailed as problem:
        report = problem.attributes["report"]
    return outcome(request, report, accepted)
