"""Kills ingests at random moments and at named places, and writes down how it went.

python -m pincite.testing.crash --random 50 --results tests/crash/RESULTS.md
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pincite.prefect_environment import API_URL, QUIET
from pincite.testing.crash_child import preload
from pincite.testing.crash_plan import NAMED, Plan, random_crashes
from pincite.testing.crash_results import Group, results_page
from pincite.testing.crash_rounds import run_plan, scenes_on
from pincite.testing.crash_scene import Outcome
from pincite.testing.lite_server import lite_server
from pincite.testing.milvus_server import milvus_server
from pincite.testing.prefect_server import prefect_server

SEED = 20_011
REAL = "Milvus server"
LITE = "Milvus Lite server"
# A real server makes a writer wait most of the time; Milvus Lite keeps a processor busy.
SIDE_BY_SIDE = {REAL: 3, LITE: 1}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the crashes; returns 1 when something was not put right."""
    given = _parser().parse_args(arguments)
    with TemporaryDirectory(prefix="pincite-crash-") as folder, ExitStack() as stack:
        home = Path(folder)
        stores = {
            REAL: stack.enter_context(milvus_server()).uri,
            LITE: stack.enter_context(lite_server(home / "lite")),
        }
        stack.enter_context(_prefect(home / "prefect"))
        preload(flow=True)
        groups = [
            *_random(home, stores, given.random, given.seed),
            *_named(home, stores, every=given.flow_every),
        ]
    page = results_page(groups, given.seed)
    if given.results is None:
        print(page)
    else:
        given.results.write_text(page, "utf-8")
    return 1 if any(group.failed for group in groups) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=50, help="crashes at random moments")
    parser.add_argument("--seed", type=int, default=SEED, help="of the random moments")
    parser.add_argument("--flow-every", type=int, default=1, help="every n-th place as a flow")
    parser.add_argument("--results", type=Path, help="file for the page; default: print it")
    return parser


def _random(home: Path, stores: dict[str, str], number: int, seed: int) -> Iterator[Group]:
    shares = {REAL: number - number // 2, LITE: number // 2}
    for (store, uri), offset in zip(stores.items(), itertools.count()):
        plan = Plan(random_crashes(seed + offset), shares[store])
        yield _group("Random moments, directly", store, plan, home / f"random-{offset}", uri)


def _named(home: Path, stores: dict[str, str], *, every: int) -> Iterator[Group]:
    plan = Plan(iter(NAMED[::every]))
    yield _group("Named places, as a flow", REAL, plan, home / "flow", stores[REAL], flow=True)


def _group(
    title: str, store: str, plan: Plan, folder: Path, uri: str, *, flow: bool = False
) -> Group:
    scenes = scenes_on(folder, uri, SIDE_BY_SIDE[store], flow=flow)
    return Group(title, store, run_plan(plan, scenes, _progress(title, store)))


def _progress(title: str, store: str) -> Callable[[Outcome], None]:
    def show(outcome: Outcome) -> None:
        result = "; ".join(outcome.problems) or ("put right" if outcome.killed else "too late")
        print(f"{title}, {store}: {outcome.crash}: {result}", file=sys.stderr, flush=True)

    return show


@contextmanager
def _prefect(home: Path) -> Iterator[None]:
    """A Prefect server for the flows, named to everything that is started from here on."""
    with prefect_server(home) as url:
        os.environ.update({**QUIET, API_URL: url})
        yield


if __name__ == "__main__":
    sys.exit(main())
