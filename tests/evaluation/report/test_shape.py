"""The shape of a report: what a hand-edited one lacks is named, never a KeyError."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pincite.errors import ReportInvalid
from pincite.evaluation.diff.reports import diff_reports
from pincite.evaluation.report.document import compared, make_report, read_report, to_json
from pincite.evaluation.report.html import report_html
from pincite.evaluation.report.markdown import report_markdown
from pincite.evaluation.report.shape import read_shape
from pincite.testing.evaluation_reports import sample_report

Place = tuple[str | int, ...]
# Keys of their own, of which none must be there.
OPEN = ("hits", "evidence", "dropped", "latencyMs", "evidenceScore", "stageLatencyMs")


def places(value: Any, above: Place = ()) -> Iterator[Place]:
    """Every key of the document that must be there; of a list its first entry."""
    if isinstance(value, list):
        for at, one in enumerate(value[:1]):
            yield from places(one, (*above, at))
    if isinstance(value, dict) and not (above and above[-1] in OPEN):
        for name, one in value.items():
            yield (*above, name)
            yield from places(one, (*above, name))


def without(report: dict[str, Any], place: Place) -> dict[str, Any]:
    report = deepcopy(report)
    found: Any = report
    for part in place[:-1]:
        found = found[part]
    del found[place[-1]]
    return report


def changed(report: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    report = deepcopy(report)
    found: Any = report
    for part in place[:-1]:
        found = found[part]
    found[place[-1]] = value
    return report


REQUIRED = [one for one in places(compared(sample_report())) if one != ("kind",)]


@pytest.mark.parametrize("place", REQUIRED, ids=lambda one: ".".join(map(str, one)))
def test_a_missing_key_is_named(place: Place) -> None:
    broken = without(compared(sample_report()), place)
    with pytest.raises(ReportInvalid) as caught:
        diff_reports(sample_report(), broken)
    assert str(place[-1]) in caught.value.message


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("cases", 0, "hit"), "HIT_TOP9", "cases.0.hit"),
        (("cases", 0, "rank"), 0, "cases.0.rank"),
        (("cases", 0, "passed"), "yes", "cases.0.passed"),
        (("cases", 0, "query"), "\ud800", "half a character"),
        (("cases", 1, "id"), "top", "two cases have the name 'top'"),
        (("groups", 1, "name"), "all", "two groups have the name 'all'"),
        (("groups",), [], "groups"),
        (("groups", 0, "measures", "recall@5", "value"), float("nan"), "recall@5.value"),
        (("groups", 0, "measures", "recall@5", "value"), None, "do not agree"),
        (("groups", 0, "measures", "recall@9"), {"value": None, "valid": 0, "of": 9}, "recall@9"),
        (("cases", 0, "path", "dropped"), {"merge": -1}, "dropped.merge"),
        (("cases",), {}, "cases"),
        (("k",), 6, "is not measured everywhere alike"),
    ],
)
def test_a_wrong_value_is_named(place: Place, value: Any, words: str) -> None:
    with pytest.raises(ReportInvalid, match=words):
        read_shape(changed(sample_report(), place, value), "It")


def test_a_broken_report_is_refused_where_it_is_read(tmp_path: Path) -> None:
    broken = without(sample_report(), ("cases", 0, "path", "dropped"))
    (tmp_path / "report.json").write_text(json.dumps(broken), "utf-8")
    with pytest.raises(ReportInvalid, match=r"'cases\.0\.path\.dropped' is missing") as caught:
        read_report(tmp_path)
    assert str(tmp_path / "report.json") in caught.value.message


def test_many_faults_are_counted() -> None:
    with pytest.raises(ReportInvalid, match=r"and [0-9]+ more"):
        read_shape({"cases": [{}], "groups": [{}]}, "It")


def test_values_of_the_report_are_not_in_the_error() -> None:
    broken = changed(sample_report(), ("cases", 0, "rank"), "a secret")
    with pytest.raises(ReportInvalid) as caught:
        read_shape(broken, "It")
    assert "secret" not in str(caught.value)


def test_what_is_observed_is_neither_needed_nor_read_for_a_comparison(tmp_path: Path) -> None:
    bare = compared(sample_report())
    (tmp_path / "report.json").write_text(to_json({**bare, "observed": "edited"}), "utf-8")
    assert compared(read_report(tmp_path)) == bare
    for render in (report_html, report_markdown):
        assert "5 of 9 cases failed" in render(bare)
        with pytest.raises(ReportInvalid, match="observed"):
            render({**bare, "observed": "edited"})


def test_keys_of_a_later_version_are_ignored() -> None:
    report = sample_report()
    later = changed(report, ("cases", 0, "novelty"), {"more": 1})
    assert read_shape(later, "It") == read_shape(report, "It")


def test_a_report_without_any_case_has_a_shape() -> None:
    assert read_shape(make_report([]), "It").cases == []
