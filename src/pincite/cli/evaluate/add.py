"""``pincite eval add``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pincite.cli.output import print_json, say


def add(
    cases: Annotated[Path, typer.Option(help="File of golden cases; made if it is not there.")],
    from_trace: Annotated[str, typer.Option(help="Trace id of the lookup that went wrong.")],
    id: Annotated[str | None, typer.Option("--id", help="Id of the new case.")] = None,
    query: Annotated[
        str | None, typer.Option(help="The question, where the log does not keep questions.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the case as JSON.")] = False,
) -> int:
    """Turn a lookup that went wrong into a golden case to edit."""
    import asyncio

    from pincite.cli.runner import run
    from pincite.evaluation.from_trace import add_case, case_of_lookup, kept_lookup
    from pincite.settings import load_settings

    settings = load_settings()
    line = run(settings, lambda w: asyncio.to_thread(kept_lookup, w.catalog.activity, from_trace))
    case = case_of_lookup(line, id, query, settings.rag.mode)
    add_case(cases, case, line)
    if json:
        print_json(case)
    else:
        say(f"Added case {case['id']} to {cases}: now name the source that answers it.")
    return 0
