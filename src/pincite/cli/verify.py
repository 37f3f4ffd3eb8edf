"""``pincite verify``."""

from __future__ import annotations

from typing import Annotated

import typer

from pincite.cli.output import print_json, say


def verify(
    corpus: Annotated[str | None, typer.Option(help="The only corpus to look at.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> int:
    """Compare catalogue, store and kept texts."""
    from pincite.cli.runner import run
    from pincite.settings import load_settings
    from pincite.verification import verify as compare

    corpora = None if corpus is None else [corpus]
    found = run(load_settings(), lambda w: compare(w.catalog, w.store, w.texts, corpora))
    shown = found.as_dict()
    if json:
        print_json(shown)
        return 0 if found.ok else 1
    for name, one in shown["corpora"].items():
        say(f"{name}: {one['documents']:,} documents, {one['chunks']:,} chunks")
        for kind, entries in one.items():
            if isinstance(entries, list) and entries:
                say(f"  {kind}: {len(entries)}")
                for entry in entries[:20]:
                    say(f"    {entry}")
    say("ok" if found.ok else "not ok")
    return 0 if found.ok else 1
