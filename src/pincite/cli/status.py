"""``pincite status``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
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
        say(f"\n{_head(name, corpus)}")
        for label, text in _rows(corpus):
            say(f"  {label:<10} {text}")
    if shown["runs"]:
        say("\nlast runs")
    for run in shown["runs"]:
        say(f"  {run['started_at']}  {run['action']}  {run['corpus']}  {run['state'].lower()}")


def _head(name: str, corpus: Mapping[str, Any]) -> str:
    if corpus["generation"] is None:
        return f"{name}  no generation yet"
    return f"{name}  generation {corpus['generation']}  {corpus['chunks']:,} chunks"


def _rows(corpus: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "documents", _counted(corpus["documents"])
    for one in corpus["failures"]:
        kept = ", its old version is still served" if one["still_served"] else ""
        yield "failed", f"{one['doc_id']}  {one['code']}{kept}"
    if corpus["items"]:
        yield "items", _counted(corpus["items"])
    if corpus["lookups"]["count"]:
        yield from _lookups(corpus["lookups"])
    if corpus["shadow"]["count"]:
        yield from _shadow(corpus["shadow"])


def _lookups(asked: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield (
        "lookups",
        f"{asked['count']:,}, {asked['hit_rate']:.0%} with evidence, {_spread(asked['latency_ms'])}"
        f", since {asked['from']}",
    )
    yield "evidence", _counted(asked["evidence"])
    slow = [f"{name} {ms:,} ms" for name, one in asked["stages"].items() if (ms := one["p95"])]
    if slow:
        yield "stages", f"p95 of {', '.join(slow)}"
    for name, what in (("cached", "from the cache"), ("legacy", "by the legacy path")):
        if asked[name]:
            yield "answered", f"{what} {_times(asked[name], asked[f'{name}_rate'])}"
    for code, number in asked["degradations"].items():
        yield "degraded", f"{code} {_times(number, asked['degradation_rates'][code])}"


def _shadow(shadow: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    at = f"@{shadow['n']}" if shadow["n"] is not None else ""
    measures = ((f"overlap{at}", "overlap"), ("rank correlation", "rank_correlation"))
    found = [f"{name} {shadow[key]:.2f}" for name, key in measures if shadow[key] is not None]
    yield "shadow", ", ".join([f"{shadow['count']:,} lookups on both paths", *found])
    for path in ("legacy", "core"):
        yield "shadow", f"{path}  {_spread(shadow['latency_ms'][path])}"
    for code, number in shadow["errors"].items():
        yield "shadow", f"core failed, {code} {_times(number, shadow['error_rates'][code])}"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {name.lower()}" for name, n in counts.items() if n) or "none"


def _spread(ms: Mapping[str, int]) -> str:
    return f"p50 {ms['p50']:,} ms, p95 {ms['p95']:,} ms, p99 {ms['p99']:,} ms"


def _times(number: int, share: float) -> str:
    return f"{number:,} {'time' if number == 1 else 'times'} ({share:.0%})"
