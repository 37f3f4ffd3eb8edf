"""``pincite eval benchmark``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.output import WITH_FAILURES, counted, note, print_json, say
from pincite.cli.wrapping import harmless

if TYPE_CHECKING:
    from pincite.evaluation.benchmark.result import BenchmarkResult

# Seconds between two lines of progress.
QUIET_S = 5.0
_STAGES = {"read": "documents read", "embedded": "chunks embedded", "asked": "questions asked"}


def benchmark(
    folder: Annotated[
        Path, typer.Argument(help="Folder with corpus.jsonl, queries.jsonl and qrels.")
    ],
    split: Annotated[str, typer.Option(help="Judgements: qrels/SPLIT.tsv.")] = "test",
    mode: Annotated[str | None, typer.Option(help="dense, lexical or hybrid.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Ask so many questions only.")] = None,
    k: Annotated[int, typer.Option("--k", min=1, max=1_000, help="Documents in a ranking.")] = 10,
    work: Annotated[
        Path | None, typer.Option(help="Keep home and embeddings here for the next run.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Measure retrieval on a public set, or your own, in a home that is thrown away."""
    import asyncio

    from pincite.evaluation.benchmark.place import benchmark_place
    from pincite.evaluation.benchmark.run import BenchmarkRequest, run_benchmark
    from pincite.settings import load_settings

    request = BenchmarkRequest(folder, split, mode, limit, k)
    settings = load_settings()
    with benchmark_place(work) as place:
        result = asyncio.run(run_benchmark(request, settings, place, _Progress()))
    if json:
        print_json(result.as_dict())
    else:
        _print(result)
    return 0 if result.whole else WITH_FAILURES


class _Progress:
    """Tells on stderr what was done, with some seconds between two lines."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}
        self._told_at = time.monotonic()

    def __call__(self, stage: str, amount: int) -> None:
        if stage == "files":
            note(f"Ingesting {counted(amount, 'document')} …")
        if stage not in _STAGES:
            return
        self._done[stage] = self._done.get(stage, 0) + amount
        if time.monotonic() - self._told_at >= QUIET_S:
            self._told_at = time.monotonic()
            note(f"  {_STAGES[stage]}: {self._done[stage]:,}")


def _print(result: BenchmarkResult) -> None:
    sizes, shown = result.sizes, result.as_dict()
    say(f"{harmless(result.name)}, split {harmless(result.split)}")
    for name, value in result.measures.items():
        say(f"  {name:<13} {value:.3f}")
    say(f"  documents     {sizes.documents:,}, {counted(sizes.chunks, 'chunk')}")
    say(f"  questions     {sizes.asked:,} of {sizes.judged:,}")
    say(f"  time          ingest {result.ingest_ms / 1000:.1f} s, {_asking(result)}")
    for name, value in shown["settings"].items():
        say(f"  {name:<13} {'–' if value is None else harmless(str(value))}")
    for line in _remarks(result):
        note(line)


def _asking(result: BenchmarkResult) -> str:
    times = f"p50 {result.latency_p50_ms:,} ms, p95 {result.latency_p95_ms:,} ms"
    return f"questions {result.asked_ms / 1000:.1f} s ({times})"


def _remarks(result: BenchmarkResult) -> list[str]:
    """What makes the figures mean less than they seem to."""
    sizes = result.sizes
    lines = []
    if sizes.unjudged:
        lines.append(f"{counted(sizes.unjudged, 'question')} without a judgement above 0 left out.")
    if sizes.empty:
        lines.append(f"{counted(sizes.empty, 'document')} without text cannot be found.")
    if sizes.missing:
        codes = ", ".join(f"{number:,} {code}" for code, number in sizes.failures.items())
        why = codes or "larger than rag.ingest.max-file-bytes"
        lines.append(f"{counted(sizes.missing, 'document')} not in the corpus: {why}.")
    lines += [
        f"{counted(n, 'lookup')} degraded: {code}." for code, n in result.degradations.items()
    ]
    return lines
