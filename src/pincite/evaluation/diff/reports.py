"""What is different between two reports, and what of it is worse; no service is called.

Facts are compared one by one, so that nothing that got worse hides behind what got better: a case
that lost one expected source and ranks another higher is a regression and an improvement.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pincite.errors import ReportInvalid, RequestInvalid
from pincite.evaluation.diff.cases import (
    EDITED,
    FAILED,
    HIT,
    PATH,
    RANK,
    Change,
    differences,
    kind_of_change,
    outcome,
    worse,
)
from pincite.evaluation.diff.groups import GroupEntry, group_entries
from pincite.evaluation.report.document import Report, compared, require_report
from pincite.evaluation.report.shape import CaseShape, FailureShape, ReportShape, read_shape

KIND = "pincite-evaluation-diff"
VERSION = 1

NEW = "new"
GONE = "gone"
# From the worst on: the order of entries.
KINDS = (FAILED, HIT, RANK, PATH, EDITED, NEW, GONE)
FAIL_ON = (FAILED, HIT, RANK)
# What the kinds of a regression are called where they go the other way.
BETTER = {FAILED: "passed", HIT: HIT, RANK: RANK}
ABSENT = "absent"


@dataclass(frozen=True)
class Entry:
    """A case that is different.

    ``kinds`` are all that hold, the worst first; ``before`` and ``after`` say the outcome in
    words. ``failures`` are those of the new report, and of the base report for a case that is gone.
    """

    id: str
    kinds: tuple[str, ...]
    before: str
    after: str
    failures: tuple[FailureShape, ...]
    changes: tuple[Change, ...]

    @property
    def kind(self) -> str:
        """The first of ``kinds``."""
        return self.kinds[0]

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "id": self.id,
            "kind": self.kind,
            "kinds": list(self.kinds),
            "before": self.before,
            "after": self.after,
            "failures": [one.model_dump() for one in self.failures],
            "changes": [asdict(one) for one in self.changes],
        }


@dataclass(frozen=True)
class Diff:
    """All differences, in an order that follows from the reports alone.

    Every case of either report is in one of the lists; one that got worse and better is in two.
    """

    k: int
    regressions: tuple[Entry, ...]
    improvements: tuple[Entry, ...]
    changed: tuple[Entry, ...]
    new: tuple[Entry, ...]
    gone: tuple[Entry, ...]
    unchanged: tuple[str, ...]
    groups: tuple[GroupEntry, ...]

    @property
    def case_ids(self) -> frozenset[str]:
        """Of both reports."""
        lists = (self.regressions, self.improvements, self.changed, self.new, self.gone)
        return frozenset(entry.id for one in lists for entry in one).union(self.unchanged)

    def fails(
        self, fail_on: Collection[str] = FAIL_ON, allow: Collection[str] = ()
    ) -> list[dict[str, Any]]:
        """The entries that count against the new report, as their JSON form.

        Args:
            fail_on: Kinds that count, of ``KINDS``.
            allow: Ids of cases that never count.

        Raises:
            RequestInvalid: There is no such kind, or no report has such a case.
        """
        for kind in fail_on:
            require_known("kind of change", kind, KINDS)
        for case_id in allow:
            require_known("case", case_id, sorted(self.case_ids))
        counting = (*self.regressions, *self.changed, *self.new, *self.gone)
        return [
            entry.as_dict()
            for entry in counting
            if entry.id not in allow and not set(fail_on).isdisjoint(entry.kinds)
        ]

    def as_dict(self) -> dict[str, Any]:
        """The JSON document; equal differences give equal bytes."""
        return {
            "kind": KIND,
            "version": VERSION,
            "k": self.k,
            "regressions": [one.as_dict() for one in self.regressions],
            "improvements": [one.as_dict() for one in self.improvements],
            "changed": [one.as_dict() for one in self.changed],
            "new": [one.as_dict() for one in self.new],
            "gone": [one.as_dict() for one in self.gone],
            "unchanged": list(self.unchanged),
            "groups": [one.as_dict() for one in self.groups],
        }


def diff_reports(base: Report, new: Report) -> Diff:
    """Compare all of two reports but what was only observed.

    Raises:
        ReportInvalid: One is no report, or they do not compare: another version, another ``k``,
            or no case in common.
    """
    old, now = _shape(base, "The base report"), _shape(new, "The new report")
    if old.k != now.k:
        raise ReportInvalid(
            f"The base report measures at k={old.k}, the new one at k={now.k}.",
            "Make both with the same --k.",
        )
    before, after = _by_id(old.cases), _by_id(now.cases)
    if (before or after) and not before.keys() & after.keys():
        raise ReportInvalid(
            "The two reports have no case in common.", "Compare reports on the same cases."
        )
    return _diff(now.k, before, after, group_entries(old.groups, now.groups))


def _diff(
    k: int,
    before: Mapping[str, CaseShape],
    after: Mapping[str, CaseShape],
    groups: tuple[GroupEntry, ...],
) -> Diff:
    both = [(before[one], after[one]) for one in sorted(before.keys() & after.keys())]
    regressions = _ordered(_worse(old, now) for old, now in both)
    improvements = _ordered(_better(old, now) for old, now in both)
    judged = {entry.id for entry in (*regressions, *improvements)}
    changed = _ordered(_changed(old, now) for old, now in both if now.id not in judged)
    listed = judged | {entry.id for entry in changed}
    return Diff(
        k=k,
        regressions=regressions,
        improvements=improvements,
        changed=changed,
        new=_ordered(_alone(after[one], NEW) for one in after.keys() - before.keys()),
        gone=_ordered(_alone(before[one], GONE) for one in before.keys() - after.keys()),
        unchanged=tuple(now.id for _, now in both if now.id not in listed),
        groups=groups,
    )


def _worse(old: CaseShape, now: CaseShape) -> Entry | None:
    return _entry(old, now, worse(old, now))


def _better(old: CaseShape, now: CaseShape) -> Entry | None:
    return _entry(old, now, [BETTER[kind] for kind in worse(now, old)])


def _changed(old: CaseShape, now: CaseShape) -> Entry | None:
    kind = kind_of_change(old, now)
    return _entry(old, now, [kind] if kind is not None else [])


def _entry(old: CaseShape, now: CaseShape, kinds: Sequence[str]) -> Entry | None:
    if not kinds:
        return None
    changes = tuple(differences(old, now))
    return Entry(now.id, tuple(kinds), outcome(old), outcome(now), tuple(now.failures), changes)


def _alone(case: CaseShape, kind: str) -> Entry:
    before, after = (ABSENT, outcome(case)) if kind == NEW else (outcome(case), ABSENT)
    return Entry(case.id, (kind,), before, after, tuple(case.failures), ())


def _ordered(entries: Iterable[Entry | None]) -> tuple[Entry, ...]:
    """By the worst kind, then by id."""
    order = {kind: at for at, kind in enumerate((BETTER[FAILED], *KINDS))}
    found = [entry for entry in entries if entry is not None]
    return tuple(sorted(found, key=lambda entry: (order[entry.kind], entry.id)))


def _shape(report: Report, where: str) -> ReportShape:
    return read_shape(compared(require_report(report, where)), where)


def _by_id(cases: Sequence[CaseShape]) -> dict[str, CaseShape]:
    return {case.id: case for case in cases}


def require_known(what: str, name: str, known: Sequence[str]) -> None:
    """Check a name that somebody typed.

    Raises:
        RequestInvalid: It is none of the known ones; the message has the nearest.
    """
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        nearest = f"the nearest is {near[0]!r}" if near else "there is none at all"
        raise RequestInvalid(f"There is no {what} {name!r}; {nearest}.")
