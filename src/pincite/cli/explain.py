"""The funnel of a lookup for a person: stages, attempts, and every candidate that fell out."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pincite.cli.output import counted
from pincite.cli.wrapping import hanging, harmless

Shown = Mapping[str, Any]


def explanation(shown: Shown, width: int, *, of_many: bool) -> Iterator[str]:
    """Lines of at most ``width`` cells; only evidence keys and filters may be longer.

    Args:
        shown: A LookupResult as its JSON document.
        width: Cells of a line.
        of_many: Several corpora were asked: name the corpus everywhere.
    """
    trace = shown["retrievalTrace"]
    yield from _funnel(trace, width, of_many=of_many)
    for one in trace["attempts"]:
        yield from _attempt(one, width, of_many=of_many)
    if trace["dropped"]:
        yield ""
        yield from _dropped(trace["dropped"], of_many=of_many)


def _funnel(trace: Shown, width: int, *, of_many: bool) -> Iterator[str]:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in ("corpus", "stage") if of_many else ("stage",):
        table.add_column(name, overflow="fold")
    for name in ("in", "out", "ms"):
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("dropped", overflow="fold")
    for stage in trace["stages"]:
        reasons = _reasons(stage, trace["dropped"])
        # Text, because a plain string would be read as markup.
        table.add_row(*map(Text, _cells(stage, reasons, of_many=of_many)))
    yield from _rendered(table, width)


def _cells(stage: Shown, reasons: str, *, of_many: bool) -> list[str]:
    corpus = [harmless(stage.get("corpus", ""))] if of_many else []
    counts = [f"{stage[name]:,}" for name in ("in", "out", "latencyMs")]
    return [*corpus, harmless(stage["name"]), *counts, reasons]


def _rendered(table: Table, width: int) -> list[str]:
    console = Console(file=sys.stdout, width=width, force_terminal=sys.stdout.isatty())
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


def _reasons(stage: Shown, dropped: Sequence[Shown]) -> str:
    """What the stage dropped, in words; one over several corpora dropped from each of them."""
    corpora = stage["corpus"].split(",")
    here = (one for one in dropped if one["stage"] == stage["name"] and one["corpus"] in corpora)
    counts = Counter(one["reason"] for one in here)
    return ", ".join(f"{number:,} {reason}" for reason, number in counts.items())


def _attempt(one: Shown, width: int, *, of_many: bool) -> Iterator[str]:
    top = "none" if one["topScore"] is None else f"{one['topScore']:.3f}"
    corpus = f"{one.get('corpus', '')}  " if of_many else ""
    hits, took = counted(one["hitCount"], "hit"), f"{one['latencyMs']:,} ms"
    parts = (one["name"], one["mode"], hits, f"top {top}", took, one["outcome"])
    yield hanging("", harmless(corpus + "  ".join(parts)), width)
    yield f"  filter {harmless(one['filter']) or 'none'}"


def _dropped(dropped: Sequence[Shown], *, of_many: bool) -> Iterator[str]:
    """One line each, the key last and in one piece, so that it can be copied."""
    reasons = max(len(one["reason"]) for one in dropped)
    corpora = max(len(one["corpus"]) for one in dropped) + 2 if of_many else 0
    for one in dropped:
        score = "" if one["score"] is None else f"{one['score']:.3f}"
        corpus = f"{one['corpus']:<{corpora}}" if of_many else ""
        yield f"{one['reason']:<{reasons}}  {score:>6}  {corpus}{harmless(one['evidenceKey'])}"
