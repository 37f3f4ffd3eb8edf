"""Figures of the groups of two reports side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pincite.evaluation.diff.cases import Change
from pincite.evaluation.report.shape import Group


@dataclass(frozen=True)
class GroupEntry:
    """A group with other figures; of a new or a gone group every figure, against ``None``."""

    name: str
    changes: tuple[Change, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"name": self.name, "changes": [asdict(one) for one in self.changes]}


def group_entries(old: Sequence[Group], now: Sequence[Group]) -> tuple[GroupEntry, ...]:
    """Those that are different: in the order of the new report, those that are gone behind them."""
    before = {group.name: _figures(group) for group in old}
    after = {group.name: _figures(group) for group in now}
    entries = [
        GroupEntry(name, tuple(_changes(before.get(name, {}), after.get(name, {}))))
        for name in dict.fromkeys((*after, *before))
    ]
    return tuple(entry for entry in entries if entry.changes)


def _figures(group: Group) -> dict[str, Any]:
    """Every figure by its name, in a fixed order; counts of none are left out."""
    return {
        "cases": group.cases,
        "passed": group.passed,
        **{hit.value: number for hit, number in sorted(group.hits.items()) if number},
        **{status: number for status, number in sorted(group.evidence.items()) if number},
        "fallbacks": group.fallbacks,
        "degraded": group.degraded,
        **{name: mean.model_dump() for name, mean in sorted(group.measures.items())},
    }


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys((*after, *before)):
        if before.get(name) != after.get(name):
            yield Change(name, before.get(name), after.get(name))
