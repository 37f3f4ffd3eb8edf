"""The steps of an evaluation as tasks, one for each case, and what the run shows of it."""

from collections.abc import Sequence
from typing import Any

from prefect import task
from prefect.artifacts import (
    acreate_link_artifact,
    acreate_markdown_artifact,
    acreate_table_artifact,
)

from pincite.evaluation import run as engine
from pincite.evaluation.case_files import CaseSet
from pincite.evaluation.cases import GoldenCase
from pincite.evaluation.diff.markdown import diff_markdown
from pincite.evaluation.report.document import Report
from pincite.evaluation.report.rows import case_rows
from pincite.evaluation.report.write import HTML
from pincite.evaluation.run import Evaluation
from pincite.tasks.policy import CATALOG, CPU, FILES, LOOKUP, PLAIN


@task(name="read cases", task_run_name="read the cases of {path}", **FILES)
async def read(path: str) -> CaseSet:
    """The golden cases of a file or folder."""
    return await engine.read(path)


@task(name="prepare", task_run_name="check the cases against the corpus", **CATALOG)
async def prepare(case_set: CaseSet) -> None:
    """What the cases name must be there."""
    await engine.prepare(case_set)


@task(name="ask", task_run_name="ask {case.id}", **LOOKUP)
async def ask(case: GoldenCase) -> dict[str, Any]:
    """The LookupResult of one case."""
    return await engine.ask(case)


@task(name="judge", task_run_name="judge the answers", **CPU)
async def judge(case_set: CaseSet, results: Sequence[dict[str, Any]], k: int) -> Report:
    """The report on the answers."""
    return await engine.judge_answers(case_set, results, k)


@task(name="publish", task_run_name="publish the report", **PLAIN)
async def publish(evaluation: Evaluation) -> None:
    """The cases as a table, what changed as Markdown, and where the whole report lies."""
    await acreate_table_artifact(
        case_rows(evaluation.report), key="evaluation-cases", description="Verdicts on all cases."
    )
    if evaluation.diff is not None:
        await acreate_markdown_artifact(
            diff_markdown(evaluation.diff),
            key="evaluation-diff",
            description="What changed since the accepted report.",
        )
    await acreate_link_artifact(
        (evaluation.folder / HTML).resolve().as_uri(),
        link_text="report.html",
        key="evaluation-report",
        description="The whole report, on the machine of the worker.",
    )
