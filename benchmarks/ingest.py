"""Ingest speed beside the raw calls, and peak memory; every figure measured in this run.

python benchmarks/ingest.py [--quick] [--results FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from corpus import write_corpus

from pincite.testing.milvus_server import milvus_server
from pincite.testing.prefect_server import prefect_server

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Sizes:
    """Chunks per measurement."""

    server: int = 20_000
    lite: int = 10_000
    local: int = 160
    small: int = 2_000
    large: int = 40_000


QUICK = Sizes(server=4_000, lite=2_000, local=40, small=2_000, large=8_000)


class Bench:
    """Runs measurements, each in a process of its own on a corpus of its own."""

    def __init__(self, place: Path, server: str, prefect_api: str) -> None:
        self.place = place
        self.server = server
        self.prefect_api = prefect_api
        self.lines: list[str] = []

    def corpus(self, chunks: int) -> Path:
        folder = self.place / f"corpus-{chunks}"
        if not folder.exists():
            write_corpus(folder, chunks)
        return folder

    def measure(self, kind: str, name: str, chunks: int, *, lite: bool) -> dict[str, Any]:
        """One line of ``measure.py``; ``name`` is the home, shared by what belongs together."""
        home = self.place / name
        database = "" if lite else self._database(name)
        uri = str(self.place / f"{name}.db") if lite else self.server
        arguments = [kind, uri, database, str(home), str(self.corpus(chunks))]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PINCITE_")}
        done = subprocess.run(
            [sys.executable, str(HERE / "measure.py"), *arguments],
            capture_output=True,
            text=True,
            env={**environment, "PREFECT_API_URL": self.prefect_api},
            check=False,
        )
        if done.returncode:
            sys.exit(f"{kind} {name} failed:\n{done.stderr[-3000:]}")
        found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        rate = found["rows"] / found["seconds"]
        found["rate"] = rate
        print(f"{kind:<10} {name:<14} {found['rows']:>7,} rows {rate:>9,.1f}/s", flush=True)
        return found

    def _database(self, name: str) -> str:
        from pymilvus import MilvusClient

        database = "bench_" + name.replace("-", "_")
        client = MilvusClient(self.server)
        if database not in client.list_databases():
            client.create_database(database)
        client.close()
        return database

    def say(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)


def speed(bench: Bench, sizes: Sizes) -> None:
    """Chunks per second of the whole pipeline beside raw upsert of the same rows."""
    bench.say("| store | pipeline | chunks | chunks/s | raw upsert rows/s | ratio | aim |")
    bench.say("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for store, lite, chunks in (
        ("Milvus server", False, sizes.server),
        ("Milvus Lite", True, sizes.lite),
    ):
        short = "lite" if lite else "server"
        direct = bench.measure("direct", f"{short}-direct", chunks, lite=lite)
        raw = bench.measure("raw", f"{short}-direct", chunks, lite=lite)
        flow = bench.measure("flow", f"{short}-flow", chunks, lite=lite)
        for name, found in (("direct", direct), ("flow", flow)):
            ratio = found["rate"] / raw["rate"]
            bench.say(
                f"| {store} | {name} | {found['rows']:,} | {found['rate']:,.0f} |"
                f" {raw['rate']:,.0f} | {ratio:.0%} | 45% |"
            )


def embedding(bench: Bench, sizes: Sizes) -> None:
    """The pipeline with the local embedder beside the embedder alone."""
    whole = bench.measure("local", "local", sizes.local, lite=True)
    alone = bench.measure("embedder", "local", sizes.local, lite=True)
    bench.say("| pipeline chunks/s | embedder alone chunks/s | ratio | aim |")
    bench.say("| ---: | ---: | ---: | ---: |")
    ratio = whole["rate"] / alone["rate"]
    bench.say(f"| {whole['rate']:.2f} | {alone['rate']:.2f} | {ratio:.0%} | 95% |")


def memory(bench: Bench, sizes: Sizes) -> None:
    """Peak resident memory of the ingesting process, small corpus beside large."""
    bench.say("| pipeline | chunks | peak MiB | chunks | peak MiB | ratio | aim |")
    bench.say("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in ("direct", "flow"):
        small = bench.measure(kind, f"{kind}-small", sizes.small, lite=False)
        large = bench.measure(kind, f"{kind}-large", sizes.large, lite=False)
        ratio = large["peak_mib"] / small["peak_mib"]
        bench.say(
            f"| {kind} | {small['rows']:,} | {small['peak_mib']:.0f} | {large['rows']:,} |"
            f" {large['peak_mib']:.0f} | {ratio:.2f} | 1.15 |"
        )


def versions() -> str:
    """What was measured."""
    names = ("prefect", "pymilvus", "milvus", "milvus-lite", "great-expectations", "pyarrow")
    python = platform.python_version()
    return ", ".join([f"Python {python}", *(f"{name} {version(name)}" for name in names)])


def main() -> None:
    """Run every measurement and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller corpora, rougher figures")
    parser.add_argument("--results", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    sizes = QUICK if given.quick else Sizes()
    with tempfile.TemporaryDirectory(prefix="pincite-bench-") as name:
        place = Path(name)
        with milvus_server() as server, prefect_server(place / "prefect") as api:
            bench = Bench(place, server.uri, api)
            bench.say("# Ingest figures\n")
            bench.say(f"{os.cpu_count()} cores, {versions()}.\n")
            bench.say("## Speed with the hash embedder, every check on\n")
            speed(bench, sizes)
            bench.say("\n## Speed with the local embedder\n")
            embedding(bench, sizes)
            bench.say("\n## Peak memory on the Milvus server\n")
            memory(bench, sizes)
    if given.results:
        given.results.write_text("\n".join(bench.lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
