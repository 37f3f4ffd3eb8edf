"""A Prefect server for tests and benchmarks, in a process of its own on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pincite.errors import StackFailed
from pincite.prefect_environment import server_environment
from pincite.stack import HOST, answers, free_port

START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 30.0


@contextmanager
def prefect_server(home: Path) -> Iterator[str]:
    """Serve a database of its own under ``home``; yields the address of the API.

    Raises:
        StackFailed: It does not answer in time.
    """
    port = free_port(0)
    home.mkdir(parents=True, exist_ok=True)
    command = ["-P", "-m", "prefect", "server", "start", "--host", HOST, "--port", str(port)]
    environment = {**os.environ, **server_environment(home, port), "PREFECT_HOME": str(home)}
    with (home / "server.log").open("wb") as log:
        child = subprocess.Popen(
            [sys.executable, *command], stdout=log, stderr=log, env=environment
        )
        try:
            _wait(child, port, home / "server.log")
            yield f"http://{HOST}:{port}/api"
        finally:
            child.terminate()
            child.wait(STOP_TIMEOUT_S)


def _wait(child: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not answers(port, "/api/health"):
        if child.poll() is not None or time.monotonic() > deadline:
            tail = log.read_text(errors="replace")[-500:]
            raise StackFailed(f"The Prefect server did not start: {tail!r}.")
        time.sleep(0.2)
