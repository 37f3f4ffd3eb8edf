"""A calibration in words: for a terminal, as settings to paste, and as a Markdown document."""

from __future__ import annotations

from collections.abc import Iterator

from pincite.evaluation.calibration.result import (
    STATUSES,
    THRESHOLD,
    Calibration,
    Confusion,
    Line,
)
from pincite.evaluation.report.markdown import section, table
from pincite.evaluation.report.svg import Picture
from pincite.evaluation.report.text import markdown

IN_FORCE, AT_LINES = "in force", "these lines"


def toml_lines(calibration: Calibration) -> list[str]:
    """What to paste into ``pincite.toml``; a line that is not proposed is a comment."""
    return ["[rag]", *(_setting(line) for line in calibration.lines)]


def summary_lines(calibration: Calibration) -> list[str]:
    """The lines, the confusion, and what to paste, for a person at a terminal."""
    rows = [_line_cells(line) for line in calibration.lines]
    remarks = [f"  {line.setting}: {line.remark}" for line in calibration.lines if line.remark]
    return [
        _asked(calibration),
        "",
        *_columns([("line", "cut", "under it", "let through"), *rows]),
        *remarks,
        "",
        *_columns([("judgement", "question", *STATUSES), *_confusion_rows(calibration)]),
        "",
        *toml_lines(calibration),
    ]


def calibration_markdown(calibration: Calibration, picture: Picture, file: str) -> str:
    """The calibration as a Markdown document that shows the picture from its file."""
    head = ("Line", "Cut", "Under it", "Let through", "Remark")
    rows = [(*_line_cells(line), line.remark) for line in calibration.lines]
    counts = table(("Judgement", "Question", *STATUSES), _confusion_rows(calibration), 2)
    shown = f"![{markdown(picture.title)}]({file})"
    lines = [
        "# Calibration",
        "",
        markdown(_asked(calibration)),
        *section("Lines", table(head, rows)),
        *section("Settings", ["```toml", *toml_lines(calibration), "```"]),
        *section("What the statuses would be", counts),
        *section("Curve", [shown, "", markdown(picture.text)]),
        *section("Beware", [f"- {markdown(one)}" for one in calibration.warnings]),
    ]
    return "\n".join(lines) + "\n"


def _asked(calibration: Calibration) -> str:
    out = f", {calibration.left_out:,} cases left out" if calibration.left_out else ""
    return (
        f"{calibration.answerable:,} answerable and {calibration.unanswerable:,} unanswerable"
        f" questions{out}; at most {calibration.max_lost:.1%} may be lost"
    )


def _setting(line: Line) -> str:
    if line.proposed is None:
        return f"# {line.setting}: {line.remark}"
    return f"{line.setting} = {line.proposed:.4f}"


def _line_cells(line: Line) -> tuple[str, str, str, str]:
    what = "expected passages" if line.setting == THRESHOLD else "answerable"
    return (
        f"rag.{line.setting}",
        "–" if line.cut is None else f"{line.cut:.4f}",
        f"{line.lost:,} of {line.of:,} {what}",
        f"{line.accepted:,} of {line.against:,} unanswerable",
    )


def _confusion_rows(calibration: Calibration) -> list[tuple[str, ...]]:
    return [
        *_rows_of(IN_FORCE, calibration.in_force),
        *_rows_of(AT_LINES, calibration.at_lines),
    ]


def _rows_of(name: str, confusion: Confusion) -> Iterator[tuple[str, ...]]:
    kinds = (("answerable", confusion.answerable), ("unanswerable", confusion.unanswerable))
    for kind, counts in kinds:
        yield (name, kind, *(f"{counts[status]:,}" for status in STATUSES))


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
