"""A calibration in words: for a terminal, as settings to paste, and as a Markdown document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pincite.errors import RequestInvalid
from pincite.evaluation.calibration.pictures import curve_picture, standalone
from pincite.evaluation.calibration.result import (
    STATUSES,
    THRESHOLD,
    Calibration,
    Confusion,
    Line,
)
from pincite.evaluation.report.markdown import section, table
from pincite.evaluation.report.text import markdown

JSON, SVG, MARKDOWN = "calibration.json", "calibration.svg", "calibration.md"
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


def calibration_markdown(calibration: Calibration) -> str:
    """The calibration as a Markdown document, with the picture beside it."""
    head = ("Line", "Cut", "Under it", "Let through", "Remark")
    rows = [(*_line_cells(line), line.remark) for line in calibration.lines]
    counts = table(("Judgement", "Question", *STATUSES), _confusion_rows(calibration), 2)
    picture = f"![{markdown(curve_picture(calibration).title)}]({SVG})"
    lines = [
        "# Calibration",
        "",
        markdown(_asked(calibration)),
        *section("Lines", table(head, rows)),
        *section("Settings", ["```toml", *toml_lines(calibration), "```"]),
        *section("What the statuses would be", counts),
        *section("Curve", [picture, "", markdown(curve_picture(calibration).text)]),
        *section("Beware", [f"- {markdown(one)}" for one in calibration.warnings]),
    ]
    return "\n".join(lines) + "\n"


def write_calibration(calibration: Calibration, folder: Path) -> None:
    """Write ``calibration.json``, ``calibration.svg`` and ``calibration.md``.

    Raises:
        RequestInvalid: The folder cannot be written.
    """
    document = json.dumps(calibration.as_dict(), ensure_ascii=False, indent=2, allow_nan=False)
    files = {
        JSON: document + "\n",
        SVG: standalone(curve_picture(calibration)),
        MARKDOWN: calibration_markdown(calibration),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8", newline="\n")
    except OSError as exc:
        raise RequestInvalid(
            f"{str(folder)!r} cannot be written: {exc.strerror}.", "Give another folder."
        ) from exc


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
