"""``pincite remove``."""

from __future__ import annotations

from typing import Annotated

import typer

from pincite.cli.output import counted, print_json, say


def remove(
    doc_ids: Annotated[list[str], typer.Argument(help="Documents to delete.")],
    corpus: Annotated[str, typer.Option(help="The corpus that holds them.")] = "docs",
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Delete documents from the live corpus; their citations stay, as superseded."""
    from pincite.cli.runner import run
    from pincite.settings import load_settings
    from pincite.writing.remove import remove_online

    wanted = list(dict.fromkeys(doc_ids))
    outcomes = run(load_settings(), lambda _: remove_online(corpus, wanted))
    removed = {row["doc_id"]: row["deleted"] for row in outcomes.to_pylist()}
    if json:
        print_json({"corpus": corpus, "removed": wanted, "chunks": sum(removed.values())})
        return 0
    for doc_id in wanted:
        say(f"removed {doc_id} ({counted(removed[doc_id], 'chunk')})")
    return 0
