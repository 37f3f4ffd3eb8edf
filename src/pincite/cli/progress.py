"""Progress of a pipeline on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pincite.wiring import Report, silent


@contextmanager
def progress(*, quiet: bool) -> Iterator[Report]:
    """A report function that draws counts on stderr; silent where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:>10}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as bars:
        files = bars.add_task("files", total=None)
        embedded = bars.add_task("embedded", total=None)
        written = bars.add_task("written", total=None)
        tasks = {"read": files, "embedded": embedded, "written": written}

        def report(stage: str, amount: int) -> None:
            if stage == "files":
                bars.update(files, total=amount)
            elif stage in tasks:
                bars.update(tasks[stage], advance=amount)

        yield report
