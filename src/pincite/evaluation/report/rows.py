"""The cases of a report as rows of a table."""

from __future__ import annotations

from typing import Any

from pincite.evaluation.report.document import Report


def case_rows(report: Report) -> list[dict[str, Any]]:
    """One row a case, in the order of the report; text only, as tables of a run show it."""
    return [_row(case) for case in report["cases"]]


def _row(case: dict[str, Any]) -> dict[str, Any]:
    failures = case["failures"]
    return {
        "case": case["id"],
        "verdict": "passed" if case["passed"] else "FAILED",
        "hit": case["hit"],
        "rank": "" if case["rank"] is None else str(case["rank"]),
        "stage": ", ".join(dict.fromkeys(failure["stage"] for failure in failures)),
        "why": " ".join(failure["message"] for failure in failures),
        "attempt": case["path"]["selectedAttempt"] or "",
        "evidence": case["path"]["evidenceStatus"],
    }
