"""A real Milvus server for tests, from the ``milvus`` wheel: one per machine at a time."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import IO

from pincite.errors import StackFailed

LOCK_NAME = "pincite-milvus-server.lock"
LOCK_WAIT_S = 600.0
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 15.0

# The child owns the server and ends it when its standard input closes, so that a server never
# outlives the tests, however they end.
_CHILD = """
import json, sys
from milvus import default_server
default_server.set_base_dir(sys.argv[1])
for name, value in json.loads(sys.argv[2]).items():
    default_server.config.set(name, value)
default_server.start()
sys.stdout.write(json.dumps({"port": default_server.listen_port}) + "\\n")
sys.stdout.flush()
sys.stdin.read()
default_server.stop()
"""


# How often the coordinator looks (ms), by configuration file and by environment: loading a new
# collection takes 2 s so, not 3 s.
_TUNING = {"queryCoord.checkInterval": 100, "queryCoord.distPullInterval": 100}
_ENVIRONMENT = {"QUERYCOORD_CHECKCHANNELINTERVAL": "100", "QUERYCOORD_CHECKSEGMENTINTERVAL": "100"}


@dataclass(frozen=True)
class MilvusServer:
    """A running server: its address, the process that owns it, and the file with its output."""

    uri: str
    pid: int
    log: Path


def unavailable_reason() -> str | None:
    """Why the server cannot run here, ``None`` when it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"the milvus wheel runs on Linux x86-64 only, not {sys.platform}"
    if importlib.util.find_spec("milvus") is None:
        return "the milvus wheel is not installed (extra 'dev')"
    return None


@contextmanager
def milvus_server(
    start_timeout_s: float = START_TIMEOUT_S, lock_wait_s: float = LOCK_WAIT_S
) -> Iterator[MilvusServer]:
    """Start the server in a temporary folder on a free port; stop it and remove its data after.

    Two servers on one machine crash each other, so a file lock makes test sessions queue up.

    Raises:
        StackFailed: It cannot run here, the lock stays taken, or it does not start in time.
    """
    reason = unavailable_reason()
    if reason:
        raise StackFailed(f"No Milvus server for tests: {reason}.", "Run without these tests.")
    with _machine_lock(lock_wait_s) as lock, TemporaryDirectory(prefix="pincite-milvus-") as home:
        log = Path(home) / "server.log"
        with log.open("wb") as sink:
            child = _spawn(home, sink, lock)
            try:
                yield MilvusServer(_wait_for_uri(child, start_timeout_s, log), child.pid, log)
            finally:
                _stop(child)


@contextmanager
def _machine_lock(wait_s: float) -> Iterator[IO[str]]:
    import fcntl

    deadline = time.monotonic() + wait_s
    with (Path(gettempdir()) / LOCK_NAME).open("a") as handle:
        while not _try_lock(handle):
            if time.monotonic() > deadline:
                raise StackFailed(
                    f"Another test session has held the Milvus server for {wait_s:.0f} s.",
                    f"Wait for it, or end the holder of {handle.name!r}.",
                )
            time.sleep(0.2)
        try:
            yield handle
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)


def _try_lock(handle: IO[str]) -> bool:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _spawn(home: str, log: IO[bytes], lock: IO[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            _CHILD,
            str(Path(home) / "data"),
            json.dumps(_TUNING),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=os.environ | _ENVIRONMENT,
        # The child holds the lock too: it may still be stopping when its parent is gone.
        pass_fds=[lock.fileno()],
        # A session of its own, so that the server it starts can be ended with it.
        start_new_session=True,
    )


def _wait_for_uri(child: subprocess.Popen[bytes], timeout_s: float, log: Path) -> str:
    assert child.stdout is not None
    ready, _, _ = select.select([child.stdout], [], [], timeout_s)
    line = child.stdout.readline() if ready else b""
    if not line:
        tail = log.read_text(errors="replace")[-500:]
        raise StackFailed(f"The Milvus server did not start in {timeout_s:.0f} s: {tail!r}.")
    return f"http://127.0.0.1:{json.loads(line)['port']}"


def _stop(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        child.wait(STOP_TIMEOUT_S)
    _kill_session(child)
    child.stdout.close()


def _kill_session(child: subprocess.Popen[bytes]) -> None:
    """End whatever is left of the child's own session, and wait until it is gone."""
    with suppress(ProcessLookupError):
        for _ in range(100):
            os.killpg(child.pid, signal.SIGKILL)
            child.poll()
            time.sleep(0.05)
