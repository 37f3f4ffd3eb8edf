"""Writes a calibration into a folder: for programs, as a picture, and in words."""

from __future__ import annotations

import json
from pathlib import Path

from pincite.evaluation.calibration.pictures import curve_picture
from pincite.evaluation.calibration.result import Calibration
from pincite.evaluation.calibration.text import calibration_markdown
from pincite.evaluation.files import write_files
from pincite.evaluation.report.svg import standalone

JSON, SVG, MARKDOWN = "calibration.json", "calibration.svg", "calibration.md"


def write_calibration(calibration: Calibration, folder: Path) -> None:
    """Write ``calibration.json``, ``calibration.svg`` and ``calibration.md``.

    Raises:
        RequestInvalid: The folder cannot be written.
    """
    document = json.dumps(calibration.as_dict(), ensure_ascii=False, indent=2, allow_nan=False)
    picture = curve_picture(calibration)
    files = {
        JSON: document + "\n",
        SVG: standalone(picture),
        MARKDOWN: calibration_markdown(calibration, picture, SVG),
    }
    write_files(folder, files)
