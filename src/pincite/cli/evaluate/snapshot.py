"""``pincite eval snapshot``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pincite.cli.evaluate.options import Cases, golden_cases
from pincite.cli.output import counted, print_json, say

if TYPE_CHECKING:
    from pincite.wiring import Workspace


def snapshot(
    out: Annotated[Path, typer.Option(help="Folder of the fixtures.")],
    cases: Cases = None,
    vector_store_mode: Annotated[
        str | None, typer.Option(help="Layout to search: native, spring or sdk.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> int:
    """Ask every case's question and keep the answers as fixtures."""
    from pincite.cli.runner import run
    from pincite.evaluation.asking import ask_all
    from pincite.evaluation.case_files import read_cases
    from pincite.evaluation.fixtures import write_fixture
    from pincite.settings import load_settings

    asked = read_cases(cases or golden_cases()).cases
    settings = load_settings({"retrieval.vector-store.mode": vector_store_mode})

    async def ask(workspace: Workspace) -> list[dict[str, Any]]:
        return await ask_all(asked, workspace)

    results = run(settings, ask)
    written = [write_fixture(out, *pair) for pair in zip(asked, results, strict=True)]
    if json:
        mode = settings.retrieval.vector_store.mode
        print_json({"fixtures": [path.name for path in written], "vectorStoreMode": mode})
    else:
        say(f"Wrote {counted(len(written), 'fixture')} to {out}")
    return 0
