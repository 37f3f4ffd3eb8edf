"""What holds of the differences of any two reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pincite.evaluation.diff.reports import BETTER, FAIL_ON, KINDS, Entry, diff_reports
from pincite.evaluation.report.document import Report, compared, make_report, to_json
from pincite.evaluation.verdict import Verdict
from pincite.testing.evaluation import block, dropped, golden_case, verdict
from pincite.testing.evaluation_reports import BACKUP, LEAVE, TRAVEL

SOURCES = (LEAVE, TRAVEL, BACKUP)

# Reports of a few cases, each answered in one of many ways.
ANSWERS = st.builds(
    lambda sources, fallen, content, status, reason: {
        "blocks": [block(source, content=content) for source in sources],
        "dropped": [dropped(source, 0, "document_cap") for source in fallen],
        "evidenceStatus": status,
        "trace": {"fallbackReason": reason},
    },
    st.lists(st.sampled_from(SOURCES), unique=True, max_size=3),
    st.lists(st.sampled_from(SOURCES), max_size=2),
    st.sampled_from(["14 days", "secret", "14 days, secret"]),
    st.sampled_from(["SUFFICIENT", "WEAK", "NONE"]),
    st.sampled_from([None, "filtered_vector_no_evidence"]),
)
EXPECTATIONS = (
    {"expectedSources": [LEAVE]},
    {"expectedSources": [LEAVE, TRAVEL], "mustContain": ["14 days"]},
    {"expectedSources": [LEAVE, TRAVEL], "require": "any", "mustNotContain": ["secret"]},
    {"forbiddenSources": [BACKUP], "tags": ["scope"]},
    {"answerable": False, "tags": ["none"]},
)


def answered(at: int, given: dict[str, Any]) -> Verdict:
    blocks = given.pop("blocks")
    trace = {**given.pop("trace"), "latencyMs": 7 * at}
    return verdict(golden_case(f"case-{at}", **EXPECTATIONS[at]), blocks, trace=trace, **given)


@st.composite
def reports(draw: Callable[..., Any]) -> Report:
    """With the first case always, so that any two have one in common."""
    numbers = [0, *sorted(draw(st.sets(st.integers(1, len(EXPECTATIONS) - 1))))]
    return make_report([answered(at, dict(draw(ANSWERS))) for at in numbers])


def mirrored(entries: Sequence[Entry]) -> list[tuple[Any, ...]]:
    """The entries as those of the other direction would be."""
    return [
        (one.id, tuple(BETTER[kind] for kind in one.kinds), one.after, one.before,
         sorted((c.what, str(c.after), str(c.before)) for c in one.changes))
        for one in entries
    ]  # fmt: skip


def plain(entries: Sequence[Entry]) -> list[tuple[Any, ...]]:
    return [
        (one.id, one.kinds, one.before, one.after,
         sorted((c.what, str(c.before), str(c.after)) for c in one.changes))
        for one in entries
    ]  # fmt: skip


@given(reports())
def test_a_report_does_not_differ_from_itself(report: Report) -> None:
    diff = diff_reports(report, report)
    assert (diff.regressions, diff.improvements, diff.changed) == ((), (), ())
    assert (diff.new, diff.gone, diff.groups) == ((), (), ())
    assert list(diff.unchanged) == [case["id"] for case in report["cases"]]
    assert diff.fails(KINDS) == []


@given(reports(), reports())
def test_the_other_direction_swaps_what_is_worse_and_better(base: Report, new: Report) -> None:
    there, back = diff_reports(base, new), diff_reports(new, base)
    assert sorted(mirrored(there.regressions)) == sorted(plain(back.improvements))
    assert sorted(mirrored(back.regressions)) == sorted(plain(there.improvements))
    assert [one.id for one in there.new] == [one.id for one in back.gone]
    assert [one.id for one in there.changed] == [one.id for one in back.changed]
    assert there.unchanged == back.unchanged
    assert {one.name for one in there.groups} == {one.name for one in back.groups}


@given(reports(), reports())
def test_every_case_of_either_report_is_accounted_for(base: Report, new: Report) -> None:
    diff = diff_reports(base, new)
    assert diff.case_ids == {case["id"] for one in (base, new) for case in one["cases"]}
    judged = {entry.id for entry in (*diff.regressions, *diff.improvements)}
    lists = [diff.changed, diff.new, diff.gone]
    rest = [entry.id for one in lists for entry in one] + list(diff.unchanged)
    assert sorted([*judged, *rest]) == sorted(diff.case_ids)


@given(reports(), reports())
def test_what_passed_and_fails_always_counts(base: Report, new: Report) -> None:
    passed = {case["id"] for case in base["cases"] if case["passed"]}
    failed = {case["id"] for case in new["cases"] if not case["passed"]}
    counted = {one["id"] for one in diff_reports(base, new).fails(["failed"])}
    assert passed & failed <= counted
    assert counted <= {one["id"] for one in diff_reports(base, new).fails(FAIL_ON)}


@given(reports(), reports())
def test_a_diff_is_the_same_bytes_whatever_was_observed(base: Report, new: Report) -> None:
    first = to_json(diff_reports(base, new).as_dict())
    others = [compared(base), {**compared(new), "observed": {"latencyMs": "edited"}}]
    assert to_json(diff_reports(*others).as_dict()) == first
    assert to_json(diff_reports(base, new).as_dict()) == first
