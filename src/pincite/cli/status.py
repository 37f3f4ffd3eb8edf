"""``pincite status``."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from pincite.cli.output import print_json, say


def status(
    json: Annotated[bool, typer.Option("--json", help="Print the status as JSON.")] = False,
) -> int:
    """Show documents by state, generations, last runs and lookups."""
    from pincite.cli.runner import run
    from pincite.settings import load_settings
    from pincite.status import status_of

    settings = load_settings()
    shown = run(settings, lambda w: asyncio.to_thread(status_of, w.catalog, settings))
    if json:
        print_json(shown)
    else:
        _print(shown)
    return 0


def _print(shown: dict[str, Any]) -> None:
    say(f"home {shown['home']}")
    stack = shown["stack"]
    say(f"stack {stack['prefect_ui_url'] if stack else 'not running (pincite up starts it)'}")
    for name, corpus in shown["corpora"].items():
        states = ", ".join(f"{n:,} {state.lower()}" for state, n in corpus["documents"].items())
        say(f"\n{name}  generation {corpus['generation']}  {corpus['chunks']:,} chunks")
        say(f"  documents  {states or 'none'}")
        for one in corpus["failures"]:
            kept = ", its old version is still served" if one["still_served"] else ""
            say(f"  failed     {one['doc_id']}  {one['code']}{kept}")
        asked = corpus["lookups"]
        if asked["count"]:
            say(
                f"  lookups    {asked['count']:,}, {asked['hit_rate']:.0%} with evidence,"
                f" p50 {asked['latency_ms']['p50']} ms, p95 {asked['latency_ms']['p95']} ms"
            )
        for code, number in asked["degradations"].items():
            say(f"  degraded   {code} {number:,} times")
    if shown["runs"]:
        say("\nlast runs")
    for run in shown["runs"]:
        say(f"  {run['started_at']}  {run['action']}  {run['corpus']}  {run['state'].lower()}")
