"""Writes a report into a folder: for programs, for Markdown and for a browser."""

from __future__ import annotations

from pathlib import Path

from pincite.evaluation.files import write_files
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
    write_files(folder, files)
    return folder
