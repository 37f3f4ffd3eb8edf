"""The page that says what was crashed and how it went."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from pincite.testing.crash_scene import Outcome

PACKAGES = ("pincite", "pymilvus", "milvus-lite", "milvus", "prefect", "pyarrow", "sqlalchemy")


@dataclass(frozen=True)
class Group:
    """Crashes of one kind: what, where, and how they went."""

    title: str
    store: str
    outcomes: Sequence[Outcome]

    @property
    def failed(self) -> list[Outcome]:
        """Crashes after which something was not as it must be."""
        return [outcome for outcome in self.outcomes if outcome.problems]


def results_page(groups: Sequence[Group], seed: int) -> str:
    """Markdown; without dates, so that an equal result is an equal page but for its times."""
    lines = [_INTRODUCTION.format(seed=seed), *_summary(groups)]
    for group in groups:
        lines += ["", f"## {group.title}, {group.store}", "", *_table(group)]
    lines += ["", "## Versions", "", f"- Python {platform.python_version()}, {platform.system()}"]
    return "\n".join([*lines, *(f"- {name} {version(name)}" for name in PACKAGES), ""])


_INTRODUCTION = """\
# Crash test

Written by `make crash`. One crash is one sync of a folder of 26 pages, over another version of it
(pages edited, shrunk, grown, emptied, retitled, added, removed, not readable, refused by the
embedder), in a child process that dies by `SIGKILL` on the way. Batches of 5 pages, 3 in flight.
What follows is the same sync again, or first one of a single other file, or one of the pages as
they were before. Then this is asked:

- `verify` finds nothing, and no document is open in the journal;
- the store holds exactly the rows of a run that never crashed, each once;
- every row, and everything that a reader was given meanwhile, can be cited with its text (what a
  reader was given up to the kill: also before anything is put right);
- one more sync writes, deletes and embeds nothing.

A prober asks the whole time for each document that both versions have. Never may one of them not
be found, or be found with a text of neither version. After the receipt only the new text may be
found; these reads are not Strong, so a column says how long an older one may have been seen. The
last column counts hits that were rows deleted long before: while a Milvus server loads a segment,
they can come back for one read. Their texts must be citable too, as superseded. Several crashes
share two processors with the server, which the times between two answers show.

The seed of the random moments is {seed}. A moment is a share of the life of a child that nobody
kills; children that were done before it do not count. Every fifth time, the run that puts
things right is killed too.
"""


def _summary(groups: Sequence[Group]) -> list[str]:
    header = (
        "| what | store | crashes | failed | questions | longest time between two answers"
        " | longest recovery | old text after the receipt | deleted rows seen |"
    )
    return [header, "|---|---|---:|---:|---:|---:|---:|---:|---:|", *map(_summary_row, groups)]


def _summary_row(group: Group) -> str:
    outcomes = group.outcomes
    cells = [
        group.title,
        group.store,
        str(len(outcomes)),
        str(len(group.failed)),
        f"{sum(o.findings.questions for o in outcomes):,}",
        f"{max(o.findings.longest_gap_s for o in outcomes) * 1000:.0f} ms",
        f"{max(o.recovery_s for o in outcomes):.1f} s",
        f"≤ {max(o.settled_s for o in outcomes) * 1000:.0f} ms",
        str(sum(o.findings.resurfaced for o in outcomes)),
    ]
    return f"| {' | '.join(cells)} |"


def _table(group: Group) -> list[str]:
    """One line per crash; of random ones, one per place that they met last."""
    if any(kill.share is not None for kill in group.outcomes[0].crash.kills):
        return _places(group)
    rows = [f"| {o.crash} | {_verdict(o)} |" for o in group.outcomes]
    return ["| killed | result |", "|---|---|", *sorted(rows)]


def _places(group: Group) -> list[str]:
    """How often each place was the last one that a child came by."""
    last = [life.trail[-1] if life.trail else "start" for o in group.outcomes for life in o.lives]
    counts = Counter(place.partition(" (")[0] for place in last)
    rows = [f"| {place} | {count} |" for place, count in sorted(counts.items())]
    failed = [f"- {o.crash}: {_verdict(o)}" for o in group.failed]
    return ["| last place before the kill | kills |", "|---|---:|", *rows, *failed]


def _verdict(outcome: Outcome) -> str:
    return "; ".join(outcome.problems[:3]).replace("\n", " ") if outcome.problems else "put right"
