"""Figures of corpora as a page draws them: shares of a bar, and bars of one scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pincite.catalog.catalog import Catalog
from pincite.catalog.database import now_ms
from pincite.errors import RequestInvalid
from pincite.figures import Figures, ShadowFigures, all_figures, corpora_with_figures, shadow_of
from pincite.percentiles import Spread
from pincite.serving.inspector.answer import bar

# The name of a period, what it is called, and its hours; 0 = all that is kept.
PERIODS = {"day": ("24 hours", 24), "week": ("7 days", 168), "all": ("all that is kept", 0)}
USUAL_PERIOD = "day"
_HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Part:
    """A part of a bar of length 100: where it begins and how long it is."""

    name: str
    count: int
    share: float
    start: float
    length: float


@dataclass(frozen=True)
class Row:
    """A spread of latencies (ms), and the lengths of its bars, 0 to 100."""

    name: str
    spread: Spread
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True)
class Chart:
    """The figures of one corpus and what is drawn of them."""

    figures: Figures
    shadow: ShadowFigures
    evidence: tuple[Part, ...]
    latency: tuple[Row, ...]
    degradations: tuple[tuple[str, int, float], ...]
    paths: tuple[Row, ...]


def charts_of(catalog: Catalog, corpora: Sequence[str], period: str) -> list[Chart]:
    """The charts of those corpora that have figures; reads the catalogue, which blocks.

    Raises:
        RequestInvalid: There is no such period.
        CatalogUnreachable: The database does not answer.
    """
    since = _since(period)
    names = [name for name in corpora_with_figures(catalog) if name in corpora]
    found = all_figures(catalog, names, since)
    return [chart(one, shadow_of(catalog, name, since)) for name, one in found.items()]


def _since(period: str) -> int:
    if period not in PERIODS:
        known = ", ".join(PERIODS)
        raise RequestInvalid(f"There is no period {period!r}.", f"There are: {known}.")
    hours = PERIODS[period][1]
    return now_ms() - hours * _HOUR_MS if hours else 0


def chart(figures: Figures, shadow: ShadowFigures) -> Chart:
    """What is drawn of a corpus."""
    spreads = [("whole lookup", figures.latency), *figures.stages.items()]
    return Chart(
        figures=figures,
        shadow=shadow,
        evidence=tuple(_parts(figures)),
        latency=_rows(spreads),
        degradations=tuple(
            (code, count, bar(count, figures.lookups))
            for code, count in figures.degradations.items()
        ),
        paths=_rows([("legacy path", shadow.legacy), ("core", shadow.core)]),
    )


def _parts(figures: Figures) -> Iterable[Part]:
    start = 0.0
    for name, count in figures.evidence.items():
        length = bar(count, figures.lookups)
        yield Part(name, count, figures.share(count) or 0.0, start, length)
        start += length


def _rows(spreads: Sequence[tuple[str, Spread]]) -> tuple[Row, ...]:
    longest = max((one.p99 or 0 for _, one in spreads), default=0)
    return tuple(
        Row(name, one, *(bar(ms or 0, longest) for ms in (one.p50, one.p95, one.p99)))
        for name, one in spreads
        if one.count
    )
