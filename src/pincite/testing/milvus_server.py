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
from urllib.parse import urlsplit

from pincite.errors import StackFailed

LOCK_NAME = "pincite-milvus-server.lock"
LOCK_WAIT_S = 600.0
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 15.0

# The child owns the server and ends it when its standard input closes, so that a server never
# outlives the tests, however they end.
_CHILD = """
import json, socket, sys
from milvus import default_server

def bound(port):
    # A server that was killed leaves connections behind, which must not keep its port from it.
    probe = socket.socket()
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        probe.bind(("127.0.0.1", port))
        probe.listen()
    except OSError:
        probe.close()
        return None
    return probe

default_server.config.try_bind_port = bound
default_server.set_base_dir(sys.argv[1])
for name, value in json.loads(sys.argv[2]).items():
    default_server.config.set(name, value)
if int(sys.argv[3]):
    default_server.listen_port = int(sys.argv[3])
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


@dataclass
class MilvusServer:
    """A running server: its address, the process that owns it, and the file with its output.

    It can be killed and started again, on the same data and at the same address.
    """

    home: str
    log: Path
    lock: IO[str]
    uri: str = ""
    pid: int = 0
    _child: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Whether it was started and not killed since."""
        return self._child is not None

    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Start it, where it answered before.

        Raises:
            StackFailed: It does not start in time, or the address is taken meanwhile.
        """
        with self.log.open("ab") as sink:
            self._child = _spawn(self.home, sink, self.lock, urlsplit(self.uri).port or 0)
        self.pid = self._child.pid
        uri = _wait_for_uri(self._child, timeout_s, self.log)
        if self.uri not in ("", uri):
            raise StackFailed(f"The Milvus server came back at {uri!r}, not at {self.uri!r}.")
        self.uri = uri

    def kill(self) -> None:
        """End it as a crash does: nothing is written any more, nobody is told."""
        child, self._child = self._child, None
        if child is not None:
            _kill_session(child)
            _close(child)

    def stop(self) -> None:
        """End it in order."""
        child, self._child = self._child, None
        if child is not None:
            _stop(child)


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
        server = MilvusServer(home, Path(home) / "server.log", lock)
        try:
            server.start(start_timeout_s)
            yield server
        finally:
            server.stop()


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


def _spawn(home: str, log: IO[bytes], lock: IO[str], port: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            _CHILD,
            str(Path(home) / "data"),
            json.dumps(_TUNING),
            str(port),
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
    child.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        child.wait(STOP_TIMEOUT_S)
    _kill_session(child)
    _close(child)


def _close(child: subprocess.Popen[bytes]) -> None:
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()


def _kill_session(child: subprocess.Popen[bytes]) -> None:
    """End whatever is left of the child's own session, and wait until it is gone."""
    with suppress(ProcessLookupError):
        for _ in range(100):
            os.killpg(child.pid, signal.SIGKILL)
            child.poll()
            time.sleep(0.05)
