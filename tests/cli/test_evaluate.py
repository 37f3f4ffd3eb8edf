"""``pincite eval …`` as people and scripts run it, on a home of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from pincite.cli.evaluate import options
from pincite.evaluation.diff.reports import FAIL_ON

CASES = """\
documents:
  folder: documents
cases:
  - id: lease
    query: Who holds the lease of a corpus?
    tags: [plain]
    expectedSources: [rag-eval/leases.md]
  - id: colour
    query: Which colour does the lighthouse have?
    tags: [plain]
    expectedEvidenceKeys: ["rag-eval/lighthouse.md#chunk-0"]
    mustContain: [white and red]
  - id: as-a-user
    query: Who holds the lease of a corpus?
    kbScope: ""
    forbiddenSources: [rag-eval/leases.md]
"""
DOCUMENTS = {
    "leases.md": "# Leases\n\nOne writer holds the lease of a corpus.\n",
    "lighthouse.md": "# Lighthouse\n\nThe lighthouse is painted white and red.\n",
}


def write_set(folder: Path) -> Path:
    """A small golden set; the file of its cases."""
    (folder / "documents").mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (folder / "documents" / name).write_text(text, "utf-8")
    (folder / "cases.yaml").write_text(CASES, "utf-8")
    return folder / "cases.yaml"


@pytest.fixture(scope="module")
def seeded(place: Path, pincite: Any) -> Path:
    """The file of cases, its documents ingested."""
    cases = write_set(place / "golden")
    ran = pincite("eval", "seed", "--cases", str(cases), "--direct", "--json")
    assert ran.status == 0, ran.err
    (receipt,) = ran.json
    assert (receipt["kb_scope"], receipt["documents"]["added"]) == ("rag-eval", 2)
    return cases


def run_cases(pincite: Any, cases: Path, *more: str) -> Any:
    return pincite("eval", "run", "--cases", str(cases), "--direct", *more)


def test_a_run_that_holds_says_so_and_writes_three_reports(pincite, seeded, place):
    out = place / "green"
    ran = run_cases(pincite, seeded, "--live", "--out", str(out))
    assert ran.status == 0, ran.out + ran.err
    assert ran.out.startswith("3 cases, 3 passed\n")
    assert "recall@5      1.000 (2 of 3)\n" in ran.out
    assert sorted(path.name for path in out.iterdir()) == [
        "report.html",
        "report.json",
        "report.md",
    ]


def test_seed_documents_are_not_seen_by_users(pincite, seeded):
    ran = pincite("lookup", "Who holds the lease of a corpus?", "--json")
    assert [one["source"] for one in ran.json["results"] if "rag-eval" in one["source"]] == []


def test_a_case_that_fails_is_status_1_with_stage_and_reason(pincite, seeded, place):
    wrong = place / "golden" / "wrong.yaml"
    text = CASES.replace("mustContain: [white and red]", "mustContain: [green]")
    wrong.write_text(text, "utf-8")
    ran = run_cases(pincite, wrong, "--out", str(place / "red"))
    assert ran.status == 1
    assert "FAILED  colour  HIT_TOP1\n" in ran.out
    assert "mustContain at pack: 'green' stands in no block." in ran.out
    assert ran.err == (
        "EVALUATION_FAILED: 1 of 3 cases failed: colour. Read the report: it names each case, the"
        " stage and the reason.\n"
    )


def test_two_runs_differ_in_what_is_only_observed(pincite, seeded, place):
    reports = []
    for name in ("first", "second"):
        ran = run_cases(pincite, seeded, "--out", str(place / name), "--json")
        report = ran.json
        del report["observed"]
        reports.append(json.dumps(report))
    assert reports[0] == reports[1]
    first, second = str(place / "first"), str(place / "second")
    ran = pincite("eval", "diff", first, second)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == pincite("eval", "diff", first, second).out


def test_fixtures_are_judged_without_any_service(pincite, seeded, place):
    fixtures = str(place / "fixtures")
    ran = pincite("eval", "snapshot", "--cases", str(seeded), "--out", fixtures, "--json")
    assert ran.json == {
        "fixtures": ["lease.json", "colour.json", "as-a-user.json"],
        "vectorStoreMode": "native",
    }
    nowhere = {
        "PINCITE_HOME": str(place / "no-home"),
        "PINCITE_EMBEDDER__PROVIDER": "openai",
        "PINCITE_STORE__URI": "http://127.0.0.1:1",
    }
    ran = pincite(
        "eval", "run", "--cases", str(seeded), "--fixtures", fixtures,
        "--out", str(place / "judged"), "--json", **nowhere,
    )  # fmt: skip
    assert ran.status == 0, ran.err
    assert ran.json["observed"]["origin"] == "fixtures"
    assert not (place / "no-home").exists()


def test_a_regression_against_the_accepted_report_is_status_1(pincite, seeded, place):
    """The case itself still holds: only the comparison sees that it got worse."""
    folder = place / "accepted"
    folder.mkdir()
    text = CASES.replace("documents:\n  folder: documents\n", "")
    (folder / "cases.yaml").write_text(text, "utf-8")
    ran = run_cases(pincite, folder / "cases.yaml", "--out", str(place / "before"), "--json")
    report = ran.json
    lease = report["cases"][0]
    assert lease["rank"] == 1
    (folder / "accepted.json").write_text(json.dumps(report), "utf-8")
    worse = text.replace("id: lease\n    query: Who holds the lease of a corpus?",
                         "id: lease\n    query: painted white and red")  # fmt: skip
    (folder / "cases.yaml").write_text(worse, "utf-8")
    ran = run_cases(pincite, folder, "--out", str(place / "after"))
    assert ran.status == 1
    assert "EVALUATION_FAILED: Worse than the accepted report: lease." in ran.err
    ran = pincite("eval", "diff", str(folder / "accepted.json"), str(place / "after"), "--json")
    assert (ran.status, [one["id"] for one in ran.json["regressions"]]) == (1, ["lease"])


def test_a_lookup_that_went_wrong_becomes_a_case(pincite, seeded, place):
    query = "Which lighthouse is it?"
    trace = pincite("lookup", query, "--kb-scope", "rag-eval", "--json").json["traceId"]
    mine = place / "mine.yaml"
    arguments = ("eval", "add", "--cases", str(mine), "--from-trace", trace)
    ran = pincite(*arguments)
    assert (ran.status, ran.err.split(":")[0]) == (2, "REQUEST_INVALID")
    ran = pincite(*arguments, "--query", query, "--id", "which")
    assert ran.status == 0, ran.err
    # Not edited yet: the run says what is to be done.
    ran = run_cases(pincite, mine, "--out", str(place / "mine"))
    assert (ran.status, "EDIT ME" in ran.err) == (2, True)
    text = mine.read_text("utf-8")
    mine.write_text(text.replace("EDIT ME: the source that answers", "rag-eval/lighthouse.md"))
    ran = run_cases(pincite, mine, "--out", str(place / "mine"))
    assert ran.status == 0, ran.out + ran.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("run", "--cases", "missing.yaml"), "CASES_INVALID"),
        (("run", "--cases", "golden/cases.yaml", "--fixtures", "nowhere"), "FIXTURE_MISMATCH"),
        (("run", "--cases", "golden/cases.yaml", "--fixtures", "a", "--live"), "REQUEST_INVALID"),
        (("run", "--cases", "golden/cases.yaml", "--k", "0"), "REQUEST_INVALID"),
        (("run", "--cases", "golden/cases.yaml", "--accepted", "no.json"), "REPORT_INVALID"),
        (("diff", "notes", "notes"), "REPORT_INVALID"),
        (("add", "--cases", "a.yaml", "--from-trace", "nobody"), "TRACE_NOT_FOUND"),
        (("seed", "--cases", "missing.yaml", "--direct"), "CASES_INVALID"),
        (("snapshot", "--out", "x", "--vector-store-mode", "other"), "CONFIG_INVALID"),
    ],
)
def test_what_is_wrong_is_one_coded_error(pincite, seeded, arguments, code):
    ran = pincite("eval", *arguments, "--json")
    assert ran.json["error"]["code"] == code
    assert ran.status == (1 if code == "TRACE_NOT_FOUND" else 2)
    assert ran.err == ""


@pytest.mark.parametrize(
    "expected",
    [
        {"expectedSources": ["notes/nobody.md"]},
        {"expectedEvidenceKeys": ["notes/nobody.md#chunk-0"]},
    ],
)
def test_what_the_corpus_does_not_hold_is_wrong_usage(pincite, seeded, place, expected):
    path = place / "unknown.yaml"
    case = {"id": "a", "query": "q", "kbScope": "", **expected}
    YAML().dump({"cases": [case]}, path)
    ran = run_cases(pincite, path, "--out", str(place / "unknown"))
    assert ran.status == 2
    assert ran.err.startswith(
        "CASES_INVALID: Case 'a' names 'notes/nobody.md', which corpus 'docs' does not hold."
    )


def test_the_schema_is_printed(pincite):
    schema = pincite("eval", "schema").json
    assert schema["$defs"]["GoldenCase"]["properties"]["mustContain"]


def test_what_counts_by_default_is_written_as_the_comparison_has_it():
    assert options.names(options.FAIL_ON) == FAIL_ON
