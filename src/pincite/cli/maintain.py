"""``pincite maintain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.ingest import print_receipt
from pincite.cli.output import WITH_FAILURES, note, print_json, say
from pincite.errors import PinciteError

if TYPE_CHECKING:
    from pincite.settings import Settings
    from pincite.writing.maintain import Maintained


def maintain(
    corpus: Annotated[
        list[str] | None, typer.Option(help="A corpus to look after; default: all with items.")
    ] = None,
    direct: Annotated[bool, typer.Option(help="Run without an orchestrator.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the receipts as JSON.")] = False,
) -> int:
    """Write memory and web items that wait, delete expired ones, and trim the ledger."""
    from pincite.settings import load_settings

    done = _maintain(load_settings(), corpus or [], direct=direct)
    if json:
        print_json(done.as_dict())
    else:
        _print(done)
    return 0 if done.ok else WITH_FAILURES


def _maintain(settings: Settings, corpora: list[str], *, direct: bool) -> Maintained:
    from pincite.cli.orchestrator import use_prefect
    from pincite.cli.runner import run
    from pincite.writing.maintain import MaintainSteps
    from pincite.writing.maintain import maintain as bring_into_order

    if direct:
        return run(settings, lambda _: bring_into_order(corpora, MaintainSteps()))
    use_prefect(settings, "--direct goes without")
    from pincite.flows.maintain import run_maintain

    return run(settings, lambda _: run_maintain(corpora))


def _print(done: Maintained) -> None:
    if not done.corpora:
        say("No corpus has items; there is nothing to maintain.")
    for corpus, one in done.corpora.items():
        if isinstance(one, PinciteError):
            note(f"{corpus}: {one}")
        else:
            print_receipt(one, "Maintained")
    say(f"Ledger rows forgotten: {done.trimmed.ledger:,}")
