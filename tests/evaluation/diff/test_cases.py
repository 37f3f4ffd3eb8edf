"""How two judgements on one case differ: what is worse, and what is only another way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pincite.evaluation.diff.reports import Diff, Entry, diff_reports
from pincite.evaluation.report.document import Report, make_report
from pincite.evaluation.verdict import Verdict
from pincite.testing.evaluation import attempt, block, dropped, golden_case, verdict
from pincite.testing.evaluation_reports import BACKUP, LEAVE, TRAVEL


def leave(*sources: str, case_id: str = "leave", **given: Any) -> Verdict:
    """A case that expects one source, answered with these."""
    case = golden_case(case_id, expectedSources=[LEAVE], **given.pop("case", {}))
    return verdict(case, [block(source) for source in sources], **given)


def diff_of(old: Sequence[Verdict], now: Sequence[Verdict]) -> Diff:
    return diff_reports(make_report(old), make_report(now))


def only(entries: Sequence[Entry]) -> Entry:
    (entry,) = entries
    return entry


def changes(entry: Entry) -> dict[str, tuple[Any, Any]]:
    return {one.what: (one.before, one.after) for one in entry.changes}


def degradation(code: str) -> dict[str, str]:
    return {"stage": "l0", "corpus": "docs", "code": code, "message": ""}


def test_a_case_that_fails_now_is_a_regression_with_stage_and_message() -> None:
    lost = leave(BACKUP, dropped=[dropped(LEAVE, 0, "document_cap")])
    diff = diff_of([leave(LEAVE)], [lost])
    entry = only(diff.regressions)
    assert entry.kinds == ("failed", "hit", "rank")
    assert entry.before == "passed, HIT_TOP1, rank 1"
    assert entry.after == "failed, RECALLED_BUT_DROPPED"
    (failure,) = entry.failures
    assert failure.stage == "document_cap"
    assert failure.message.startswith("docs/leave.md was found and dropped at document_cap")
    assert changes(entry)["document_cap"] == (0, 1)
    assert changes(entry)["expected docs/leave.md"] == ("rank 1", "dropped at document_cap")
    assert (diff.improvements, diff.changed, diff.unchanged) == ((), (), ())


def test_a_worse_hit_of_a_case_that_still_passes_is_a_regression() -> None:
    entry = only(diff_of([leave(LEAVE)], [leave(BACKUP, LEAVE)]).regressions)
    assert entry.kinds == ("hit", "rank")
    assert (entry.before, entry.after) == (
        "passed, HIT_TOP1, rank 1",
        "passed, HIT_RETURNED, rank 2",
    )


def test_a_lower_rank_of_the_same_hit_is_a_regression() -> None:
    entry = only(diff_of([leave(BACKUP, LEAVE)], [leave(BACKUP, TRAVEL, LEAVE)]).regressions)
    assert entry.kinds == ("rank",)


def any_of(*sources: str) -> Verdict:
    case = golden_case("any", expectedSources=[LEAVE, TRAVEL], require="any")
    return verdict(case, [block(source) for source in sources])


def test_an_expected_source_that_is_not_returned_any_more_is_a_regression() -> None:
    entry = only(diff_of([any_of(LEAVE, TRAVEL)], [any_of(LEAVE)]).regressions)
    assert entry.kinds == ("rank",)
    assert changes(entry)["expected docs/travel.md"] == ("rank 2", "not found by search")


def test_what_is_lost_does_not_hide_behind_what_is_gained() -> None:
    diff = diff_of([any_of(BACKUP, TRAVEL)], [any_of(BACKUP, LEAVE)])
    assert only(diff.regressions).kinds == only(diff.improvements).kinds == ("rank",)


def test_another_failing_assertion_of_a_failing_case_is_a_regression() -> None:
    words: dict[str, Any] = {"mustContain": ["14 days"], "mustNotContain": ["secret"]}
    leaked = verdict(
        golden_case("leave", expectedSources=[LEAVE], **words), [block(LEAVE, content="secret")]
    )
    entry = only(diff_of([leave(LEAVE, case=words)], [leaked]).regressions)
    assert entry.kinds == ("failed",)
    assert [one.assertion for one in entry.failures] == ["mustContain", "mustNotContain"]


def test_a_second_forbidden_source_of_a_failing_case_is_a_regression() -> None:
    words = {"forbiddenSources": [TRAVEL, BACKUP]}
    entry = only(
        diff_of(
            [leave(LEAVE, TRAVEL, case=words)], [leave(LEAVE, TRAVEL, BACKUP, case=words)]
        ).regressions
    )
    assert entry.kinds == ("failed",)


def test_a_worse_hit_is_not_called_an_improvement_of_the_failure_it_replaces() -> None:
    given = {"forbiddenSources": [BACKUP]}
    diff = diff_of([leave(TRAVEL, case=given)], [leave(BACKUP, case=given)])
    assert only(diff.regressions).kinds == ("hit",)
    assert diff.improvements == ()


PATHS: list[tuple[dict[str, Any], str, tuple[Any, Any]]] = [
    (
        {"trace": {"selectedAttempt": "FILTERED_VECTOR"}},
        "selectedAttempt",
        ("UNFILTERED_VECTOR", "FILTERED_VECTOR"),
    ),
    ({"trace": {"fallbackReason": "why"}}, "fallbackReason", (None, "why")),
    ({"evidenceStatus": "WEAK"}, "evidenceStatus", ("SUFFICIENT", "WEAK")),
    (
        {"trace": {"attempts": [attempt(outcome="low_quality")]}},
        "attempts",
        (["UNFILTERED_VECTOR (evidence)"], ["UNFILTERED_VECTOR (low_quality)"]),
    ),
    (
        {"trace": {"degradations": [degradation("l0_empty")]}},
        "degradations",
        ([], ["l0_empty"]),
    ),
    ({"dropped": [dropped(BACKUP, 0, "document_cap")] * 3}, "document_cap", (0, 3)),
    ({"dropped": [dropped(BACKUP, 0, "budget", "pack")]}, "pack: budget", (0, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("given", "what", "wanted"), PATHS)
def test_another_way_to_the_same_outcome_is_a_changed_path(
    given: dict[str, Any], what: str, wanted: tuple[Any, Any]
) -> None:
    diff = diff_of([leave(LEAVE)], [leave(LEAVE, **given)])
    entry = only(diff.changed)
    assert (entry.kinds, changes(entry)) == (("path",), {what: wanted})
    assert diff.regressions == diff.improvements == ()
    back = diff_of([leave(LEAVE, **given)], [leave(LEAVE)])
    assert changes(only(back.changed)) == {what: (wanted[1], wanted[0])}
    assert diff.fails() == []
    assert [one["id"] for one in diff.fails(["path"])] == ["leave"]


def test_a_reranker_that_is_not_applied_any_more_is_a_changed_path() -> None:
    def with_rerank(report: Report, applied: bool) -> Report:
        report["cases"][0]["path"]["rerankApplied"] = applied
        return report

    both = [with_rerank(make_report([leave(LEAVE)]), applied) for applied in (True, False)]
    assert changes(only(diff_reports(*both).changed)) == {"rerankApplied": (True, False)}


def test_other_blocks_beside_the_expected_ones_are_a_changed_path() -> None:
    entry = only(diff_of([leave(LEAVE, BACKUP)], [leave(LEAVE, TRAVEL)]).changed)
    assert changes(entry) == {
        "returned": (
            ["docs/leave.md#chunk-0", "docs/backup.md#chunk-0"],
            ["docs/leave.md#chunk-0", "docs/travel.md#chunk-0"],
        )
    }


def test_measures_that_changed_alone_are_told() -> None:
    edited = make_report([leave(LEAVE)])
    edited["cases"][0]["measures"]["mrr@5"] = 0.5
    diff = diff_reports(make_report([leave(LEAVE)]), edited)
    assert changes(only(diff.changed)) == {"mrr@5": (1.0, 0.5)}


def test_a_case_that_asks_something_else_is_edited() -> None:
    diff = diff_of([leave(LEAVE)], [leave(LEAVE, case={"tags": ["new"]})])
    entry = only(diff.changed)
    assert (entry.kinds, changes(entry)) == (("edited",), {"tags": ([], ["new"])})
