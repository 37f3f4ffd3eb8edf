"""What changed between two reports, for people who read Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pincite.evaluation.diff.groups import GroupEntry
from pincite.evaluation.diff.reports import Diff, Entry
from pincite.evaluation.report.figures import counted, mean
from pincite.evaluation.report.markdown import section, table
from pincite.evaluation.report.shape import Mean
from pincite.evaluation.report.text import NOTHING, markdown


def diff_markdown(diff: Diff) -> str:
    """The differences as a Markdown document; equal differences give equal bytes."""
    parts = (
        section("Regressions", _entries(diff.regressions)),
        section("Improvements", _entries(diff.improvements)),
        section("Changed paths", _entries(diff.changed)),
        section("New cases", _entries(diff.new)),
        section("Gone cases", _entries(diff.gone)),
        section("Changed figures", _figures(diff.groups)),
    )
    lines = [f"# {_summary(diff)}", "", _rest(diff), *(line for part in parts for line in part)]
    return "\n".join(lines) + "\n"


def _summary(diff: Diff) -> str:
    regressions = counted(len(diff.regressions), "regression")
    improvements = counted(len(diff.improvements), "improvement")
    return f"{regressions if diff.regressions else 'No regression'}, {improvements}"


def _rest(diff: Diff) -> str:
    return (
        f"{counted(len(diff.changed), 'changed path')}, {counted(len(diff.new), 'new case')},"
        f" {counted(len(diff.gone), 'gone case')}, {len(diff.unchanged):,} unchanged."
    )


def _entries(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        yield from _entry(entry)


def _entry(entry: Entry) -> Iterator[str]:
    way = _arrow(entry.before, entry.after)
    yield f"- **{markdown(entry.id)}** ({', '.join(entry.kinds)}): {way}"
    for failure in entry.failures:
        named = f"{markdown(failure.assertion)} at {markdown(failure.stage)}"
        yield f"  - {named}: {markdown(failure.message)}"
    for change in entry.changes:
        yield f"  - {markdown(change.what)}: {_arrow(change.before, change.after)}"


def _figures(groups: Sequence[GroupEntry]) -> Iterator[str]:
    rows = [
        (group.name, change.what, _value(change.before), _value(change.after))
        for group in groups
        for change in group.changes
    ]
    return table(("Group", "Figure", "Before", "After"), rows, numbers_from=2) if rows else iter(())


def _arrow(before: Any, after: Any) -> str:
    return f"{markdown(_value(before))} -> {markdown(_value(after))}"


def _value(value: Any) -> str:
    """A value of a report in words."""
    if value is None or value == []:
        return NOTHING
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, dict):
        return mean(Mean.model_validate(value))
    return value if isinstance(value, str) else json.dumps(value)
