"""What the commands of an evaluation have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Cases = Annotated[
    Path | None, typer.Option(help="File or folder of golden cases; default: our own.")
]
FailOn = Annotated[str, typer.Option(help="Changes that count, between commas.")]
Allow = Annotated[
    list[str] | None, typer.Option(help="A case that may change; may be given again.")
]

# As ``evaluation.diff.reports.FAIL_ON`` has them; importing that for --help takes too long.
FAIL_ON = "failed,hit,rank"


def golden_cases() -> Path:
    """The file of the golden cases that ship with the package."""
    import pincite

    return (Path(pincite.__file__).parent / "golden" / "cases.yaml").resolve()


def names(given: str) -> tuple[str, ...]:
    """The names between commas."""
    return tuple(filter(None, (name.strip() for name in given.split(","))))
