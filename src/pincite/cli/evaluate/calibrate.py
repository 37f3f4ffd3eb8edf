"""``pincite eval calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.output import note, print_json, say
from pincite.cli.wrapping import harmless

if TYPE_CHECKING:
    from pincite.evaluation.calibration.result import Calibration


def calibrate(
    cases: Annotated[
        Path, typer.Option(help="File or folder of golden cases, some `answerable: false`.")
    ],
    fixtures: Annotated[
        Path | None, typer.Option(help="Read the answers of this folder instead of asking.")
    ] = None,
    max_lost: Annotated[
        float, typer.Option(help="Share of the answerable that may be lost, from 0 to under 1.")
    ] = 0.05,
    out: Annotated[Path | None, typer.Option(help="Folder for table, curve and figures.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the calibration as JSON.")] = False,
) -> int:
    """Propose rag.threshold, rag.low-quality and rag.weak from golden cases."""
    from pincite.evaluation.calibration.text import summary_lines
    from pincite.evaluation.calibration.write import write_calibration

    found = _calibrate(cases, fixtures, max_lost)
    if out is not None:
        write_calibration(found, out)
    if json:
        print_json(found.as_dict())
        return 0
    for line in summary_lines(found):
        say(line)
    for warning in found.warnings:
        note(f"warning: {warning}")
    if out is not None:
        say(f"\nFiles: {harmless(str(out))}")
    return 0


def _calibrate(path: Path, fixtures: Path | None, max_lost: float) -> Calibration:
    from pincite.evaluation.calibration.calibrate import calibrate as calibrated
    from pincite.evaluation.case_files import read_cases
    from pincite.evaluation.fixtures import read_fixtures

    cases = read_cases(path).cases
    if fixtures is not None:
        return calibrated(cases, read_fixtures(fixtures, cases), max_lost=max_lost)
    from pincite.cli.runner import run
    from pincite.evaluation.calibration.asking import calibrate_live
    from pincite.settings import load_settings

    return run(load_settings(), lambda workspace: calibrate_live(cases, workspace, max_lost))
