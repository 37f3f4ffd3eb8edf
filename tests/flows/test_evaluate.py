"""The evaluate flow on a real Prefect server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pincite.evaluation.report.document import compared, to_json
from pincite.evaluation.run import DIRECT, EvaluationRequest, run_evaluation
from pincite.flows.evaluate import run_evaluate
from pincite.writing.ingest import ingest
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT as WRITE

CASES = {
    "documents": {"folder": "documents"},
    "cases": [
        {"id": "lease", "query": "lease of a corpus", "expectedSources": ["rag-eval/lease.md"]},
        {"id": "lamp", "query": "lamp of the lighthouse", "expectedSources": ["rag-eval/lamp.md"]},
    ],
}
DOCUMENTS = {"lease.md": "One writer holds the lease of a corpus.", "lamp.md": "A lighthouse lamp."}


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A folder with two cases and their documents."""
    folder = tmp_path / f"golden-{tmp_path.name}"
    (folder / "documents").mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (folder / "documents" / name).write_text(text, "utf-8")
    (folder / "cases.json").write_text(json.dumps(CASES), "utf-8")
    return folder


def request(golden: Path, **given) -> EvaluationRequest:
    return EvaluationRequest(str(golden), str(golden.parent / "out"), **given)


async def seed(golden: Path) -> None:
    documents = (str(golden / "documents"),)
    await ingest(IngestRequest(documents, source="rag-eval", kb_scope="rag-eval"), WRITE)


def with_wrong_case(golden: Path) -> None:
    document = json.loads((golden / "cases.json").read_text())
    document["cases"][0] |= {"mustContain": ["nobody says so"]}
    (golden / "cases.json").write_text(json.dumps(document), "utf-8")


def test_a_green_run_shows_its_cases_and_where_the_report_is(run_flow, golden, recorded):
    async def work(_):
        await seed(golden)
        evaluation = await run_evaluate(request(golden))
        return evaluation, await recorded(None, "publish", f"evaluate {golden.name}")

    evaluation, (run, tasks, artifacts) = run_flow(work)
    assert evaluation.problem is None
    assert run.state_name == "Completed"
    names = {task.name for task in tasks}
    assert {"check the cases against the corpus", "ask lease", "ask lamp"} <= names
    assert {"judge the answers", "publish the report"} <= names
    assert set(artifacts) == {"evaluation-cases", "evaluation-report"}
    assert [row["hit"] for row in json.loads(artifacts["evaluation-cases"].data)] == [
        "HIT_TOP1",
        "HIT_TOP1",
    ]
    assert (evaluation.folder / "report.html").as_uri() in artifacts["evaluation-report"].data


def test_a_red_run_fails_with_its_case_and_still_shows_everything(run_flow, golden, recorded):
    async def work(_):
        await seed(golden)
        green = await run_evaluate(request(golden, accepted="none"))
        (golden / "accepted.json").write_text(to_json(green.report), "utf-8")
        renamed = golden.rename(golden.with_name(f"{golden.name}-red"))
        with_wrong_case(renamed)
        evaluation = await run_evaluate(request(renamed))
        return evaluation, await recorded(None, "publish", f"evaluate {renamed.name}")

    evaluation, (run, _tasks, artifacts) = run_flow(work)
    assert [entry["id"] for entry in evaluation.regressions] == ["lease"]
    assert run.state_name == "Failed"
    assert "EVALUATION_FAILED: 1 of 2 cases failed: lease." in run.state.message
    assert "nobody says so" in artifacts["evaluation-cases"].data
    assert "lease" in artifacts["evaluation-diff"].data
    assert json.loads((evaluation.folder / "report.json").read_text())["ok"] is False


def test_flow_and_direct_mode_give_the_same_report(run_flow, golden):
    async def work(_):
        await seed(golden)
        by_flow = await run_evaluate(request(golden))
        return by_flow, await run_evaluation(request(golden), DIRECT)

    by_flow, directly = run_flow(work)
    assert to_json(compared(by_flow.report)) == to_json(compared(directly.report))


@pytest.mark.parametrize(
    ("given", "worse"), [({}, ["lamp"]), ({"fail_on": ()}, []), ({"allow": ("lamp",)}, [])]
)
def test_the_last_run_may_be_what_is_compared_with(run_flow, golden, given, worse):
    """What is replaced by the run is read before it."""

    async def work(_):
        await seed(golden)
        out = str(golden.parent / "out")
        await run_evaluate(request(golden))
        document = json.loads((golden / "cases.json").read_text())
        document["cases"][1]["query"] = "One writer holds the lease of a corpus lighthouse"
        (golden / "cases.json").write_text(json.dumps(document), "utf-8")
        return await run_evaluate(request(golden, accepted=out, **given))

    evaluation = run_flow(work)
    assert evaluation.report["cases"][1]["rank"] == 2
    assert [entry["id"] for entry in evaluation.regressions] == worse


def test_an_evaluation_is_no_question_of_a_user(run_flow, golden):
    async def work(workspace):
        await seed(golden)
        await run_evaluate(request(golden))
        return workspace.catalog.activity.lookups()

    assert run_flow(work) == []
