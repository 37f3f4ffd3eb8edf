"""One sync of the folder, in this process or in a child that is killed on the way.

Children are forked from a server process that has imported everything and opened nothing.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import shutil
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.errors import CorpusBusy
from pincite.settings import Settings
from pincite.testing.crash_adapters import refuse_some_texts, watch
from pincite.testing.crash_points import Killer, Point, outside_of_steps
from pincite.wiring import open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.receipt import Receipt
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerProcess

LEASE_WAIT_S = 30.0
CHILD_LIMIT_S = 120.0
POLL_S = 0.05
_STEPS = (
    *("check", "chunk", "compare", "discover", "embed", "journal", "read"),
    *("recover", "remove", "stamp", "store"),
)
# Imported once by the server process, so that a child starts in milliseconds.
PRELOADED = (
    "pymilvus",
    "pincite.catalog.catalog",
    "pincite.documents.readers",
    "pincite.embedding.cache",
    "pincite.embedding.hash",
    "pincite.store.milvus",
    "pincite.testing.crash_child",
    *(f"pincite.writing.{step}" for step in _STEPS),
)
FLOW = "pincite.flows.ingest"
# Starting a child asks after all others, and a child's end can be read only once.
_processes = threading.Lock()


@dataclass(frozen=True)
class Order:
    """What a child is to do.

    Args:
        settings: The home and the store.
        request: The folder.
        trail: File for the places that it comes by.
        point: Where it dies; ``None``: nowhere.
        after_s: When it is killed, in seconds from the start of the sync; ``None``: never.
        flow: Run the Prefect flow, at the API that the environment names.
    """

    settings: Settings
    request: IngestRequest
    trail: Path
    point: Point | None = None
    after_s: float | None = None
    flow: bool = False


@dataclass(frozen=True)
class Life:
    """What became of a child: killed or done, after how many seconds, and where it came by."""

    killed: bool
    seconds: float
    trail: tuple[str, ...]


class ChildFailed(AssertionError):
    """A child ended neither by the kill nor as a run that went well."""


def preload(*, flow: bool = False) -> None:
    """Say what the server process imports; counts only before the first child."""
    modules = [*PRELOADED, FLOW] if flow else list(PRELOADED)
    multiprocessing.get_context("forkserver").set_forkserver_preload(modules)


def run_child(order: Order) -> Life:
    """Sync in a child with an empty embedding cache until it is killed or done.

    Raises:
        ChildFailed: It ended otherwise.
    """
    shutil.rmtree(order.settings.cache_path.parent, ignore_errors=True)
    order.trail.unlink(missing_ok=True)
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_run, args=(order, theirs))
    with _processes:
        child.start()
    theirs.close()
    with ours:
        seconds = _await_end(child, ours, order.after_s)
    with _processes:
        child.join()
        code = child.exitcode
    trail = order.trail.read_text("utf-8") if order.trail.exists() else ""
    return _life(order, code, seconds, tuple(trail.splitlines()))


def _await_end(child: ForkServerProcess, ours: Connection, after_s: float | None) -> float:
    ours.poll(CHILD_LIMIT_S)
    start = time.monotonic()
    wait([child.sentinel], CHILD_LIMIT_S if after_s is None else after_s)
    # Nobody is left to be killed where the child is done, or has killed itself.
    child.kill()
    wait([child.sentinel])
    return time.monotonic() - start


def _life(order: Order, code: int | None, seconds: float, trail: tuple[str, ...]) -> Life:
    mortal = order.point is not None or order.after_s is not None
    if code == -signal.SIGKILL and mortal and seconds < CHILD_LIMIT_S:
        return Life(True, seconds, trail)
    if code == 0:
        return Life(False, seconds, trail)
    raise ChildFailed(f"The child ended with {code} after {seconds:.1f} s, last at {trail[-1:]}.")


def _run(order: Order, started: Connection) -> None:
    killer = Killer(order.point, order.trail)

    async def work() -> Receipt:
        async with open_workspace(order.settings) as workspace:
            watch(workspace, killer)
            outside_of_steps()
            started.send(True)
            return await when_free(lambda: _sync(order, killer))

    if asyncio.run(work()).error is not None:
        sys.exit(1)


async def _sync(order: Order, killer: Killer) -> Receipt:
    if not order.flow:
        return await ingest(order.request, killer.steps(DIRECT))
    from pincite.flows import ingest as flows

    flows.STEPS = killer.steps(flows.STEPS)
    return await flows.run_ingest(order.request)


async def when_free(run: Callable[[], Awaitable[Receipt]]) -> Receipt:
    """What ``run`` returns, once the lease of a killed writer has run out.

    Raises:
        CorpusBusy: It did not in ``LEASE_WAIT_S``.
    """
    deadline = time.monotonic() + LEASE_WAIT_S
    while True:
        try:
            return await run()
        except CorpusBusy:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(POLL_S)


def sync(settings: Settings, request: IngestRequest) -> Receipt:
    """Sync in this process, to the end."""

    async def work() -> Receipt:
        async with open_workspace(settings) as workspace:
            refuse_some_texts(workspace)
            return await when_free(lambda: ingest(request, DIRECT))

    return asyncio.run(work())
