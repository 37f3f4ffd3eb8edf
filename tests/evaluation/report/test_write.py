"""The three files of a report, written whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from pincite.errors import ReportInvalid, RequestInvalid
from pincite.evaluation.report.document import read_report
from pincite.evaluation.report.write import write_reports
from pincite.testing.evaluation_reports import hostile_report, sample_report

FILES = ["report.html", "report.json", "report.md"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_is_made_and_holds_three_files(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    report = hostile_report()
    assert write_reports(report, folder) == folder
    assert names(folder) == FILES
    assert read_report(folder) == report


def test_older_files_are_replaced_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    (tmp_path / "report.md").write_text("x" * 1_000_000, "utf-8")
    write_reports(sample_report(), tmp_path)
    assert names(tmp_path) == ["notes.txt", *FILES]
    assert (tmp_path / "report.md").read_text("utf-8").startswith("# 5 of 9 cases failed\n")


def test_what_is_no_report_writes_nothing(tmp_path: Path) -> None:
    write_reports(sample_report(), tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in FILES}
    broken = sample_report()
    del broken["cases"][0]["path"]
    with pytest.raises(ReportInvalid, match=r"cases\.0\.path"):
        write_reports(broken, tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == before


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(RequestInvalid, match="cannot be written: "):
        write_reports(sample_report(), tmp_path / "file")
