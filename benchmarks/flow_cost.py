"""What the retrieve flow costs beside the online path, in one process, by turns."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from corpus import write_corpus
from overhead import settings_of
from report_table import table
from retrieval_measures import percentile

from pincite.retrieval.pipeline import lookup
from pincite.retrieval.request import request_from_settings
from pincite.retrieval.steps import direct_steps
from pincite.testing.prefect_server import prefect_server
from pincite.wiring import Workspace, open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

AIM_MS = 400.0
CHUNKS = 500
WARM_UP = 3
# The server's SQLite still writes the events of a run's tasks for about two seconds after it; a
# flow that begins meanwhile waits for them, and that is another figure.
PAUSE_S = 3.0
HEAD = ("online p50", "flow p50", f"added p50 (aim ≤ {AIM_MS:.0f})")


def flow_cost(place: Path, count: int) -> str:
    """The table, measured on a Prefect server of its own."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    folder = place / "flow-corpus"
    write_corpus(folder, CHUNKS)
    with (
        prefect_server(place / "prefect") as api,
        temporary_settings({PREFECT_API_URL: api}),
    ):
        online, flow = asyncio.run(_measure(place, folder, count))
    added = percentile(flow, 0.5) - percentile(online, 0.5)
    judged = f"{added:.0f} {'met' if added <= AIM_MS else 'missed'}"
    values = (f"{percentile(online, 0.5):.0f}", f"{percentile(flow, 0.5):.0f}", judged)
    return table(HEAD, [values], words=0)


async def _measure(place: Path, folder: Path, count: int) -> tuple[list[float], list[float]]:
    home = place / "flow-home"
    async with open_workspace(settings_of("memory://flow", "", home, "hash")) as workspace:
        await ingest(IngestRequest((str(folder),)), DIRECT)
        times = [await _pair(workspace, f"question {number}") for number in range(count + WARM_UP)]
    return [pair[0] for pair in times[WARM_UP:]], [pair[1] for pair in times[WARM_UP:]]


async def _pair(workspace: Workspace, query: str) -> tuple[float, float]:
    from pincite.flows.retrieve import retrieve

    request = request_from_settings(workspace.settings, query)
    await asyncio.sleep(PAUSE_S)
    started = time.perf_counter()
    await lookup(request, direct_steps(workspace.lookup_parts))
    between = time.perf_counter()
    await retrieve(query)
    return (between - started) * 1000, (time.perf_counter() - between) * 1000
