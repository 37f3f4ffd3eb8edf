"""The pictures of a report: ranks, the funnel of expected evidence, latencies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from pincite.evaluation.report.distributions import Bar, expected_of, funnel_bars, rank_bars
from pincite.evaluation.report.figures import counted, latencies, latency_values
from pincite.evaluation.report.shape import ReportShape
from pincite.evaluation.report.svg import BAD, GOOD, INK, Picture, draw

SIZE = (4.0, 3.0)
RANKS = "Best rank of expected evidence"
FUNNEL = "Expected evidence after each stage"
LATENCY = "Latency of the cases"
_LOST = ("dropped", "not found")
_NOTHING_EXPECTED = "No case names expected evidence, so there is nothing to show."
_NO_LATENCIES = "No latency was observed, so there is nothing to show."


def pictures(report: ReportShape) -> list[Picture]:
    """All pictures of a report, in their order."""
    return [rank_picture(report), funnel_picture(report), latency_picture(report)]


def rank_picture(report: ReportShape) -> Picture:
    """At which rank expected evidence came back, and how much was dropped or not found."""
    if not expected_of(report):
        return Picture("ranks", RANKS, _NOTHING_EXPECTED, None)
    bars = rank_bars(report)
    text = f"Of {counted(len(expected_of(report)), 'expected item')}: {_ranks_in_words(bars)}."
    return draw("ranks", RANKS, text, SIZE, lambda axes: _paint_ranks(axes, bars))


def funnel_picture(report: ReportShape) -> Picture:
    """How much of the expected evidence each stage of the lookup left."""
    if not expected_of(report):
        return Picture("funnel", FUNNEL, _NOTHING_EXPECTED, None)
    bars = funnel_bars(report)
    text = f"{counted(bars[0].count, 'expected item')}; {_losses(bars)}."
    return draw("funnel", FUNNEL, text, SIZE, lambda axes: _paint_funnel(axes, bars))


def latency_picture(report: ReportShape) -> Picture:
    """How long the lookups took, shortest first."""
    found = latencies(report)
    if found is None:
        return Picture("latency", LATENCY, _NO_LATENCIES, None)
    text = (
        f"{counted(found.cases, 'case')}: half of them within {found.p50:,} ms, 95 % within"
        f" {found.p95:,} ms, the longest {found.longest:,} ms."
    )
    values = latency_values(report)
    return draw("latency", LATENCY, text, SIZE, lambda axes: _paint_latency(axes, values))


def _ranks_in_words(bars: Sequence[Bar]) -> str:
    ranks = [f"{bar.count} at rank {bar.label}" for bar in bars if bar.label not in _LOST]
    return ", ".join([*ranks, *(f"{bar.count} {bar.label}" for bar in bars if bar.label in _LOST)])


def _losses(bars: Sequence[Bar]) -> str:
    """The stages that lost some, with what they left."""
    lossy = [now for before, now in pairwise(bars) if now.count < before.count]
    kept = [f"{bar.count} left after {bar.label}" for bar in lossy]
    return ", ".join(kept) or "none was lost, all were returned"


def _paint_ranks(axes: Axes, bars: Sequence[Bar]) -> None:
    colours = [BAD if bar.label in _LOST else GOOD for bar in bars]
    labels = [bar.label.replace(" ", "\n", 1) if bar.label in _LOST else bar.label for bar in bars]
    drawn = axes.bar(range(len(bars)), [bar.count for bar in bars], color=colours, clip_on=False)
    axes.bar_label(drawn, color=INK, padding=1)
    axes.set_xticks(range(len(bars)), labels)
    axes.set_xlabel("rank")
    axes.set_ylabel("expected items")
    _count_axis(axes, "y")


def _paint_funnel(axes: Axes, bars: Sequence[Bar]) -> None:
    rows = range(len(bars))
    before = [bars[0].count, *(bar.count for bar in bars[:-1])]
    counts = [bar.count for bar in bars]
    lost = [had - has for had, has in zip(before, counts, strict=True)]
    axes.barh(rows, counts, color=GOOD, clip_on=False)
    axes.barh(rows, lost, left=counts, color=BAD, clip_on=False)
    # Behind what was lost, so that no figure stands on a bar.
    for row, had, has in zip(rows, before, counts, strict=True):
        axes.annotate(f"{has}", (had, row), (3, 0), textcoords="offset points", va="center")
    axes.set_yticks(rows, [bar.label for bar in bars])
    axes.invert_yaxis()
    axes.set_xlabel("expected items left (red: lost here)")
    axes.set_ylabel("after the stage")
    _count_axis(axes, "x")


def _paint_latency(axes: Axes, values: Sequence[int]) -> None:
    # One step for each case, as wide as the others.
    edges = [at + 0.5 for at in range(len(values) + 1)]
    axes.stairs(values, edges, fill=True, color=GOOD, clip_on=False)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, max(1, values[-1]))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    axes.set_xlabel("cases, shortest first")
    axes.set_ylabel("latency (ms)")
    _count_axis(axes, "y")


def _count_axis(axes: Axes, which: str) -> None:
    """Whole numbers from 0 with light lines."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axis.grid(True, clip_on=False, linewidth=0.6)
