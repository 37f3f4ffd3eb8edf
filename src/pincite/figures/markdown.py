"""Figures as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pincite.catalog.catalog import Catalog
from pincite.catalog.database import now_ms
from pincite.figures.corpora import all_figures, corpora_with_figures
from pincite.figures.figures import Figures, iso
from pincite.figures.shadow import ShadowFigures, shadow_of
from pincite.percentiles import Spread

DAY_MS = 24 * 60 * 60 * 1000
NOTHING = "–"


def daily_markdown(catalog: Catalog, now: int | None = None) -> list[tuple[str, str]]:
    """Each corpus with its figures over the 24 hours before ``now`` (epoch ms), by name.

    Raises:
        CatalogUnreachable: The database does not answer.
    """
    since = max(0, (now_ms() if now is None else now) - DAY_MS)
    found = all_figures(catalog, corpora_with_figures(catalog), since)
    return [
        (name, figures_markdown(one, shadow_of(catalog, name, since)))
        for name, one in found.items()
    ]


def figures_markdown(figures: Figures, shadow: ShadowFigures | None = None) -> str:
    """The figures of a corpus; a table is left out where there is nothing to count."""
    lines = [f"# Figures of {figures.corpus}", "", _reach(figures)]
    if figures.lookups:
        lines += _lookups(figures)
    if figures.items:
        lines += _section("Items", ("state", "items"), _numbers(figures.items))
    if shadow is not None and shadow.lookups:
        lines += _shadow(shadow)
    return "\n".join(lines) + "\n"


def _reach(figures: Figures) -> str:
    since = f" since {iso(figures.since)}" if figures.since else ""
    if not figures.lookups:
        return f"No lookups{since}."
    between = f"the first at {iso(figures.first_at)}, the last at {iso(figures.last_at)}"
    return f"Lookups{since}: {figures.lookups:,}, {between}."


def _lookups(figures: Figures) -> list[str]:
    answers = {
        "with evidence": figures.hits,
        "degraded": figures.degraded,
        "from the cache": figures.cached,
        "by the legacy path": figures.legacy,
    }
    counted = ("lookups", "share")
    lines = _section("Answers", ("", *counted), _shares(answers, figures))
    lines += _section("Evidence", ("status", *counted), _shares(figures.evidence, figures))
    lines += _section("Latency in ms", ("stage", *_SPREAD), _latencies(figures))
    if figures.degradations:
        rows = _shares(_coded(figures.degradations), figures)
        lines += _section("Degradations", ("code", *counted), rows)
    return lines


_SPREAD = ("lookups", "p50", "p95", "p99")


def _latencies(figures: Figures) -> Iterable[Sequence[str]]:
    yield _spread("all together", figures.latency)
    for name, one in figures.stages.items():
        yield _spread(name, one)


def _shadow(shadow: ShadowFigures) -> list[str]:
    at = f"@{shadow.n}" if shadow.n is not None else ""
    measures = [
        ("lookups on both paths", f"{shadow.lookups:,}", NOTHING),
        (f"overlap{at}", _number(shadow.overlap), f"{shadow.compared:,}"),
        ("rank correlation", _number(shadow.correlation), f"{shadow.correlated:,}"),
        ("core failed", f"{shadow.failed:,}", NOTHING),
    ]
    lines = _section("Core and legacy path", ("measure", "value", "over lookups"), measures)
    paths = [_spread("legacy", shadow.legacy), _spread("core", shadow.core)]
    lines += _section("Latency of both in ms", ("path", *_SPREAD), paths)
    if shadow.errors:
        rows = _shares(_coded(shadow.errors), shadow)
        lines += _section("Failures of the core", ("code", "lookups", "share"), rows)
    return lines


def _section(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    rule = ["---", *("---:" for _ in head[1:])]
    return ["", f"## {title}", "", *(f"| {' | '.join(row)} |" for row in (head, rule, *rows))]


def _numbers(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    return [(name, f"{number:,}") for name, number in counts.items()]


def _shares(
    counts: Mapping[str, int], of: Figures | ShadowFigures
) -> Iterable[tuple[str, str, str]]:
    for name, number in counts.items():
        share = of.share(number)
        yield name, f"{number:,}", NOTHING if share is None else f"{share:.1%}"


def _coded(counts: Mapping[str, int]) -> dict[str, int]:
    return {f"`{code}`": number for code, number in counts.items()}


def _spread(name: str, one: Spread) -> tuple[str, ...]:
    values = (NOTHING if ms is None else f"{ms:,}" for ms in (one.p50, one.p95, one.p99))
    return name, f"{one.count:,}", *values


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"
