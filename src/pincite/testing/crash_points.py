"""Places of the write protocol at which a process kills itself, with ``SIGKILL``."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pincite.writing.steps import IngestSteps, WriteSteps

# Whatever is done outside of every step: taking the lease, giving it back, recording the run.
OUTSIDE = "run"
_step: ContextVar[str | None] = ContextVar("pincite_crash_step", default=None)


@dataclass(frozen=True)
class Point:
    """A named place; the process dies when it comes by for the ``occurrence``-th time."""

    name: str
    occurrence: int = 1

    def __str__(self) -> str:
        return self.name if self.occurrence == 1 else f"{self.name} ({self.occurrence})"


class Killer:
    """Notes every place that the process comes by, and kills it at one of them.

    Args:
        point: Where to die; ``None``: nowhere.
        trail: File that gets one line per place; what it holds survives the process.
    """

    def __init__(self, point: Point | None, trail: Path) -> None:
        self._point = point
        self._trail = os.open(trail, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._passed: Counter[str] = Counter()
        self._lock = threading.Lock()

    def passing(self, name: str) -> None:
        """The process is at this place now."""
        with self._lock:
            self._passed[name] += 1
            here = Point(name, self._passed[name])
            os.write(self._trail, f"{here}\n".encode())
            if here == self._point:
                os.kill(os.getpid(), signal.SIGKILL)

    def passing_in_step(self, what: str) -> None:
        """The same for a place that several steps share; outside of the pipeline it is none."""
        step = _step.get()
        if step is not None:
            self.passing(f"{step}: {what}")

    def steps(self, steps: IngestSteps) -> IngestSteps:
        """The same steps, each followed by a place."""
        write = {f.name: self._step(f.name, getattr(steps.write, f.name)) for f in _STEPS}
        return IngestSteps(
            discover=self._step("discover", steps.discover),
            read=self._step("read", steps.read),
            write=WriteSteps(**write),
        )

    def _step(self, name: str, step: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
        async def run(*arguments: Any) -> Any:
            token = _step.set(name)
            try:
                result = await step(*arguments)
            finally:
                _step.reset(token)
            self.passing(f"after {name}")
            return result

        return run


def outside_of_steps() -> None:
    """From here on, what this task does outside of every step counts as the run's own."""
    _step.set(OUTSIDE)


_STEPS = fields(WriteSteps)
