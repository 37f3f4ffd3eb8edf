"""``pincite eval diff``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pincite.cli.evaluate.options import FAIL_ON, Allow, FailOn, names
from pincite.cli.output import WITH_FAILURES, print_json


def diff(
    base: Annotated[Path, typer.Argument(help="The older report, or its folder.")],
    new: Annotated[Path, typer.Argument(help="The newer report, or its folder.")],
    fail_on: FailOn = FAIL_ON,
    allow: Allow = None,
    json: Annotated[bool, typer.Option("--json", help="Print the changes as JSON.")] = False,
) -> int:
    """Compare two reports; no service is called."""
    from pincite.evaluation.diff.markdown import diff_markdown
    from pincite.evaluation.diff.reports import diff_reports
    from pincite.evaluation.report.document import read_report

    found = diff_reports(read_report(base), read_report(new))
    failing = found.fails(names(fail_on), tuple(allow or ()))
    if json:
        print_json(found.as_dict())
    else:
        sys.stdout.write(diff_markdown(found))
    return WITH_FAILURES if failing else 0
