"""Writes a report into a folder: for programs, for Markdown and for a browser."""

from __future__ import annotations

from pathlib import Path

from pincite.errors import RequestInvalid
from pincite.evaluation.report.document import FILE, Report, to_json
from pincite.evaluation.report.html import report_html
from pincite.evaluation.report.markdown import report_markdown

MARKDOWN = "report.md"
HTML = "report.html"


def write_reports(report: Report, folder: Path) -> Path:
    """Write ``report.json``, ``report.md`` and ``report.html``; each file is replaced whole.

    Returns:
        The folder, which is made where it is not there.

    Raises:
        ReportInvalid: It has not the shape of a report; nothing is written.
        RequestInvalid: The folder cannot be written.
    """
    files = {
        FILE: to_json(report),
        MARKDOWN: report_markdown(report),
        HTML: report_html(report),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            _replace(folder / name, text)
    except OSError as exc:
        raise RequestInvalid(
            f"The report cannot be written into {str(folder)!r}: {exc.strerror}.",
            "Give a folder that can be written.",
        ) from exc
    return folder


def _replace(path: Path, text: str) -> None:
    draft = path.with_name(f"{path.name}.part")
    draft.write_text(text, "utf-8", newline="\n")
    draft.replace(path)
