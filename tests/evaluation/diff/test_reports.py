"""What changed between two reports, and what of it counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pincite.errors import ReportInvalid, RequestInvalid
from pincite.evaluation.diff.reports import Diff, Entry, diff_reports
from pincite.evaluation.report.document import make_report
from pincite.evaluation.verdict import Verdict
from pincite.testing.evaluation import block, golden_case, verdict
from pincite.testing.evaluation_reports import BACKUP, LEAVE, hostile_report, sample_report


def leave(*sources: str, case_id: str = "leave", **given: Any) -> Verdict:
    """A case that expects one source, answered with these."""
    case = golden_case(case_id, expectedSources=[LEAVE], **given.pop("case", {}))
    return verdict(case, [block(source) for source in sources], **given)


def stays(case_id: str = "same") -> Verdict:
    return leave(LEAVE, case_id=case_id)


def diff_of(old: Sequence[Verdict], now: Sequence[Verdict]) -> Diff:
    return diff_reports(make_report(old), make_report(now))


def only(entries: Sequence[Entry]) -> Entry:
    (entry,) = entries
    return entry


def test_new_and_gone_cases_are_listed_with_their_outcome() -> None:
    diff = diff_of([stays(), leave(LEAVE, case_id="old")], [stays(), leave(case_id="young")])
    gone, new = only(diff.gone), only(diff.new)
    assert (gone.id, gone.before, gone.after) == ("old", "passed, HIT_TOP1, rank 1", "absent")
    assert (new.id, new.before, new.after) == ("young", "absent", "failed, NOT_RECALLED")
    assert [one.stage for one in new.failures] == ["search"]
    assert diff.unchanged == ("same",)
    assert diff.fails() == []
    assert [one["id"] for one in diff.fails(["gone", "new"])] == ["young", "old"]


def test_entries_come_from_the_worst_kind_on_then_by_id() -> None:
    old = [leave(LEAVE, case_id=name) for name in "dbac"]
    now = [
        leave(BACKUP, case_id="d"),
        leave(BACKUP, LEAVE, case_id="b"),
        leave(BACKUP, LEAVE, case_id="a"),
        leave(case_id="c"),
    ]
    diff = diff_of(old, now)
    assert [entry.id for entry in diff.regressions] == ["c", "d", "a", "b"]
    assert diff_of(old[::-1], now[::-1]).as_dict() == diff.as_dict()


def test_figures_of_groups_are_compared() -> None:
    diff = diff_of(
        [leave(LEAVE, case={"tags": ["en"]})], [leave(BACKUP, LEAVE, case={"tags": ["zh"]})]
    )
    assert [group.name for group in diff.groups] == ["all", "corpus: docs", "tag: zh", "tag: en"]
    overall = {one.what: (one.before, one.after) for one in diff.groups[0].changes}
    assert overall == {
        "HIT_RETURNED": (None, 1),
        "HIT_TOP1": (1, None),
        "mrr@5": ({"value": 1.0, "valid": 1, "of": 1}, {"value": 0.5, "valid": 1, "of": 1}),
        "ndcg@5": ({"value": 1.0, "valid": 1, "of": 1}, {"value": 0.6309, "valid": 1, "of": 1}),
    }
    assert list(overall) == ["HIT_RETURNED", "mrr@5", "ndcg@5", "HIT_TOP1"]
    assert {one.before for one in diff.groups[2].changes} == {None}
    assert {one.after for one in diff.groups[3].changes} == {None}


def test_allowed_cases_never_count() -> None:
    old = [leave(LEAVE, case_id="a"), leave(LEAVE, case_id="b")]
    diff = diff_of(old, [leave(case_id="a"), leave(case_id="b")])
    assert [one["id"] for one in diff.fails()] == ["a", "b"]
    assert [one["id"] for one in diff.fails(allow=["a"])] == ["b"]
    assert diff.fails(allow=["a", "b"]) == []
    assert diff.fails(fail_on=[]) == []


def test_a_kind_counts_where_it_is_not_the_worst_of_its_entry() -> None:
    diff = diff_of([leave(LEAVE)], [leave(BACKUP, LEAVE)])
    assert only(diff.regressions).kind == "hit"
    assert [one["kind"] for one in diff.fails(["rank"])] == ["hit"]
    assert diff.fails(["failed", "path"]) == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"allow": ["sane"]}, "no case 'sane'; the nearest is 'same'"),
        ({"fail_on": ["ranks"]}, "no kind of change 'ranks'; the nearest is 'rank'"),
        ({"fail_on": ["passed"]}, "no kind of change 'passed'"),
    ],
)
def test_an_unknown_case_or_kind_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(RequestInvalid, match=words):
        diff_of([stays()], [stays()]).fails(**given)


def test_nothing_is_near_where_there_is_no_case() -> None:
    with pytest.raises(RequestInvalid, match="there is none at all"):
        diff_of([], []).fails(allow=["a"])


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (sample_report(k=3), "at k=5, the new one at k=3"),
        ({**sample_report(), "version": 2}, "The new report is a report of version 2"),
        ({**sample_report(), "kind": "another"}, "The new report is no report"),
        ({"any": "document"}, "The new report is no report"),
        ([], "The new report is no report"),
        (make_report([stays("other")]), "no case in common"),
        (make_report([]), "no case in common"),
        ({**sample_report(), "cases": None}, "cases"),
    ],
)
def test_reports_that_do_not_compare_are_refused(other: Any, words: str) -> None:
    with pytest.raises(ReportInvalid, match=words):
        diff_reports(sample_report(), other)


def test_the_report_at_fault_is_named() -> None:
    with pytest.raises(ReportInvalid, match="The base report is no report"):
        diff_reports({}, sample_report())


def test_unchanged_cases_are_those_that_are_equal_in_what_is_compared() -> None:
    slow = leave(LEAVE, trace={"latencyMs": 900}, evidenceScore=0.1)
    assert diff_of([leave(LEAVE)], [slow]).unchanged == ("leave",)


def test_hostile_reports_compare() -> None:
    diff = diff_reports(hostile_report(), hostile_report())
    assert len(diff.unchanged) == len(hostile_report()["cases"])


def test_the_json_of_an_entry_names_everything() -> None:
    entry = only(diff_of([leave(LEAVE)], [leave()]).regressions).as_dict()
    assert list(entry) == ["id", "kind", "kinds", "before", "after", "failures", "changes"]
    assert entry["failures"] == [
        {
            "assertion": "expectedSources",
            "stage": "search",
            "message": "docs/leave.md was not found by the search.",
            "reason": "not_recalled",
        }
    ]
