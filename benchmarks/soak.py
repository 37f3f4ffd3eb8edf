"""Many clients ask `pincite serve` over HTTP at once, on a real Milvus server.

python benchmarks/soak.py [--seconds 60] [--clients 16] [--chunks 4000] [--results FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from corpus import write_corpus
from report_table import table, versions
from retrieval_measures import percentile
from soak_load import OWNERS, Seen, load, memory, sentences_of

from pincite.settings import load_settings
from pincite.testing.http_server import http_process
from pincite.testing.milvus_server import milvus_server
from pincite.wiring import open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.online import write_items
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

PACKAGES = ("fastapi", "uvicorn", "httpx", "pymilvus", "milvus", "sqlalchemy", "pyarrow")
HEAD = ("request", "count", "p50", "p95", "p99", "slowest")
SHARES = (0.5, 0.95, 0.99, 1.0)


def settings_of(place: Path, uri: str, database: str = "") -> dict[str, Any]:
    """The defaults on the server, with the hash embedder; nobody is held to a rate."""
    return {
        "home": str(place / "home"),
        "store.uri": uri,
        "store.database": database,
        "embedder.provider": "hash",
        "serve.requests-per-minute": 10_000_000,
    }


def environment_of(settings: dict[str, Any]) -> dict[str, str]:
    """The same as variables of a process."""
    return {
        "PINCITE_" + key.replace(".", "__").replace("-", "_").upper(): str(value)
        for key, value in settings.items()
    }


async def prepare(settings: dict[str, Any], folder: Path) -> int:
    """Ingest the folder and remember something of everybody; returns the chunks written."""
    async with open_workspace(load_settings(settings, folder=folder.parent, environment={})):
        receipt = await ingest(IngestRequest((str(folder),)), DIRECT)
        for number, owner in enumerate(OWNERS):
            await write_items("memory", memory(owner, number)["items"])
        return receipt.chunks["written"]


def soak(
    place: Path, uri: str, *, chunks: int, clients: int, seconds: float, database: str = ""
) -> tuple[int, Seen]:
    """Chunks of the corpus, and what the clients saw; everything is kept below ``place``."""
    folder = place / "corpus"
    write_corpus(folder, chunks)
    settings = settings_of(place, uri, database)
    written = asyncio.run(prepare(settings, folder))
    with http_process(place, environment_of(settings)) as server:
        seen = asyncio.run(load(server.url, sentences_of(folder), clients, seconds))
    status = server.process.returncode
    if status != 0:
        seen.errors[f"the server ended with status {status}"] += 1
    return written, seen


def report(chunks: int, clients: int, seen: Seen) -> str:
    """The figures in Markdown."""
    rows = [_row(kind, values) for kind, values in sorted(seen.latencies.items())]
    rows.append(_row("all", seen.every()))
    rate = seen.requests / seen.seconds
    return "\n\n".join(
        (
            "# Soak",
            f"{os.cpu_count()} cores for everything: the clients, `pincite serve` (one process) "
            f"and a Milvus server; {versions(PACKAGES)}. {clients} clients for "
            f"{seen.seconds:.0f} s, each asking again as soon as it is answered, in a corpus of "
            f"{chunks:,} chunks with the `hash` embedder; beside them one write a second. "
            "Times in ms, at the client.",
            f"**{seen.requests:,} requests, {rate:.0f} a second, "
            f"{sum(seen.errors.values())} errors.**",
            table(HEAD, rows),
            f"Errors: {_counted(seen.errors)}. Degradations: {_counted(seen.degradations)}.",
        )
    ) + "\n"  # fmt: skip


def _row(kind: str, values: list[float]) -> tuple[str, ...]:
    return kind, f"{len(values):,}", *(f"{percentile(values, share):.0f}" for share in SHARES)


def _counted(found: dict[str, int]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in sorted(found.items())) or "none"


def main() -> None:
    """Run the clients and print the figures; ends with 1 if there was an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--chunks", type=int, default=4_000, help="size of the corpus, about")
    parser.add_argument("--results", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pincite-soak-") as name, milvus_server() as server:
        chunks, seen = soak(
            Path(name),
            server.uri,
            chunks=given.chunks,
            clients=given.clients,
            seconds=given.seconds,
        )
    text = report(chunks, given.clients, seen)
    print(text, end="")
    if given.results:
        given.results.parent.mkdir(parents=True, exist_ok=True)
        given.results.write_text(text, "utf-8")
    sys.exit(1 if seen.errors else 0)


if __name__ == "__main__":
    main()
