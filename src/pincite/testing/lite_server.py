"""A Milvus Lite server for tests, in a process of its own on this machine."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pincite.errors import StackFailed

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0
HOST = "127.0.0.1"


@contextmanager
def lite_server(folder: Path, start_timeout_s: float = START_TIMEOUT_S) -> Iterator[str]:
    """Serve the folder on a free port of this machine; yields the address.

    Raises:
        StackFailed: It does not answer in time.
    """
    port = free_port()
    log = folder / "server.log"
    folder.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as sink:
        child = _spawn(folder / "data.db", port, sink.fileno())
        try:
            _wait_for_port(child, port, start_timeout_s, log)
            yield f"http://{HOST}:{port}"
        finally:
            _stop(child)


def free_port() -> int:
    """A TCP port on this machine that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _spawn(data: Path, port: int, log: int) -> subprocess.Popen[bytes]:
    # Without --host it would listen on every interface.
    options = ["server", "--data-dir", str(data), "--port", str(port), "--host", HOST]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "milvus_lite", *options],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )


def _wait_for_port(child: subprocess.Popen[bytes], port: int, timeout_s: float, log: Path) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline and child.poll() is None:
        try:
            socket.create_connection((HOST, port), timeout=1.0).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    tail = log.read_text(errors="replace")[-500:]
    raise StackFailed(f"The Milvus Lite server did not start in {timeout_s:.0f} s: {tail!r}.")


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
