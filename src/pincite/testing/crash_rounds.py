"""Crashes on several scenes side by side: while one waits for the server, another works."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pincite.testing.crash_plan import Crash, Plan
from pincite.testing.crash_prober import Findings
from pincite.testing.crash_scene import Outcome, Scene

Open = Callable[[], Scene]
Progress = Callable[[Outcome], None]


def run_plan(plan: Plan, opens: Sequence[Open], progress: Progress | None = None) -> list[Outcome]:
    """The outcomes of the plan's crashes, those left out that came too late to kill.

    Args:
        plan: What to try.
        opens: Each makes a new scene on a store of its own, again after a failure; they work
            side by side.
        progress: Told each outcome.
    """
    with ThreadPoolExecutor(len(opens)) as pool:
        futures = [pool.submit(_work, plan, one, progress) for one in opens]
        return [outcome for future in futures for outcome in future.result()]


def _work(plan: Plan, opened: Open, progress: Progress | None) -> list[Outcome]:
    outcomes: list[Outcome] = []
    crash = plan.take()
    while crash is not None:
        with opened() as scene:
            healthy = True
            # What one failure leaves must not fail the crashes after it.
            while crash is not None and healthy:
                outcome = _try(scene, crash)
                healthy = not outcome.problems
                if progress is not None:
                    progress(outcome)
                if outcome.killed or outcome.problems:
                    outcomes.append(outcome)
                else:
                    plan.missed()
                crash = plan.take()
    return outcomes


def _try(scene: Scene, crash: Crash) -> Outcome:
    try:
        return scene.crash(crash)
    except Exception:
        return Outcome(crash, (), 0.0, 0.0, Findings(), (traceback.format_exc(),))


def scenes_on(folder: Path, uri: str, count: int, *, flow: bool = False) -> list[Open]:
    """Makers of scenes on one server; each scene gets a folder and a database of its own."""
    numbers = itertools.count()
    return [lambda: Scene(folder / f"scene-{next(numbers)}", uri, flow=flow)] * count
