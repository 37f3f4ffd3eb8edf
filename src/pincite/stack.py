"""The local stack: Prefect server and Milvus Lite server of one home, on loopback.

While it runs, ``stack.json`` under the home says where, and ``stack.lock`` is locked: the lock,
which ends with its process whatever ends that, is what says that the stack runs.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pincite.errors import StackFailed
from pincite.prefect_environment import own_folder, server_environment
from pincite.settings import Settings

HOST = "127.0.0.1"
PREFECT_PORT = 4200
STORE_PORT = 19530
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 15.0
FILE_NAME = "stack.json"
LOCK_NAME = "stack.lock"

_PR_SET_PDEATHSIG = 1

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Stack:
    """Where a running stack answers; ``store_uri`` is empty when the store is another server."""

    pid: int
    prefect_api_url: str
    prefect_ui_url: str
    store_uri: str


@dataclass
class Server:
    """A child process and the file it logs to."""

    name: str
    child: subprocess.Popen[bytes]
    log: Path


@dataclass
class Serving:
    """A stack that this process serves."""

    stack: Stack
    servers: list[Server] = field(default_factory=list)

    def require_alive(self) -> None:
        """Raise StackFailed when one of the servers has ended."""
        for server in self.servers:
            _require_alive(server)


def running_stack(home: Path) -> Stack | None:
    """The stack of this home, ``None`` when none runs."""
    if not _is_locked(home / LOCK_NAME):
        return None
    try:
        return Stack(**json.loads((home / FILE_NAME).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@contextmanager
def serve_stack(settings: Settings, progress: Progress) -> Iterator[Serving]:
    """Start the servers, wait until they answer, and stop them at the end of the block.

    Raises:
        StackFailed: A stack runs already, or a server ends or does not answer in time.
    """
    home = own_folder(settings.home)
    logs = own_folder(home / "logs")
    servers: list[Server] = []
    with _only_one(home):
        try:
            with _ports_to_ourselves():
                stack = _start_all(settings, logs, servers, progress)
            _announce(home, stack)
            yield Serving(stack, servers)
        finally:
            (home / FILE_NAME).unlink(missing_ok=True)
            _stop(servers)


@contextmanager
def _only_one(home: Path) -> Iterator[None]:
    with (home / LOCK_NAME).open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _runs_already(home) from None
        yield


def _runs_already(home: Path) -> StackFailed:
    running = running_stack(home)
    where = f"process {running.pid}: {running.prefect_ui_url}" if running else "still starting"
    return StackFailed(
        f"The stack of {str(home)!r} runs already ({where}).", "Use it, or stop it first."
    )


@contextmanager
def _ports_to_ourselves() -> Iterator[None]:
    """One stack of this machine's user starts at a time: two would choose the same free ports."""
    path = Path(tempfile.gettempdir()) / f"pincite-up-{os.getuid()}.lock"
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _start_all(settings: Settings, logs: Path, servers: list[Server], progress: Progress) -> Stack:
    port = free_port(PREFECT_PORT)
    prefect = _start_prefect(settings, port, logs / "prefect.log")
    servers.append(prefect)
    store_uri = ""
    if not settings.store.uri:
        store_port = free_port(STORE_PORT)
        servers.append(_start_store(settings, store_port, logs / "milvus-lite.log"))
        _wait(servers[-1], store_port)
        store_uri = f"http://{HOST}:{store_port}"
        progress(f"Milvus Lite server  {store_uri}")
    _wait(prefect, port, path="/api/health")
    address = f"http://{HOST}:{port}"
    progress(f"Prefect server      {address}")
    return Stack(os.getpid(), f"{address}/api", address, store_uri)


def free_port(wanted: int) -> int:
    """``wanted`` where nothing listens on it, else another free TCP port of this machine."""
    for port in (wanted, 0):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
            return int(probe.getsockname()[1])
    raise StackFailed("This machine has no free TCP port.", "Stop something that listens.")


def _start_prefect(settings: Settings, port: int, log: Path) -> Server:
    command = ["-P", "-m", "prefect", "server", "start", "--host", HOST, "--port", str(port)]
    environment = server_environment(settings.home, port)
    return Server("Prefect", _start(command, log, {**os.environ, **environment}), log)


def _start_store(settings: Settings, port: int, log: Path) -> Server:
    # Without --host it would listen on every interface.
    options = ["--data-dir", settings.store_uri, "--port", str(port), "--host", HOST]
    return Server("Milvus Lite", _start(["-P", "-m", "milvus_lite", "server", *options], log), log)


def _start(
    arguments: list[str], log: Path, environment: Mapping[str, str] = os.environ
) -> subprocess.Popen[bytes]:
    with log.open("ab") as sink:
        return subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            env=dict(environment),
            # Ctrl-C reaches this process only, which then stops its children in order.
            start_new_session=True,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )


def _end_with_parent() -> None:
    """A server must not outlive a stack that was killed: it would hold the store's lock."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait(server: Server, port: int, path: str | None = None) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        _require_alive(server)
        if answers(port, path):
            return
        time.sleep(0.1)
    raise StackFailed(
        f"The {server.name} server did not answer in {START_TIMEOUT_S:.0f} s.",
        f"Look at {str(server.log)!r}.",
    )


def _require_alive(server: Server) -> None:
    status = server.child.poll()
    if status is not None:
        raise StackFailed(
            f"The {server.name} server ended with status {status}.",
            f"Look at {str(server.log)!r}; if a port or a folder is in use, end what uses it.",
        )


def answers(port: int, path: str | None = None) -> bool:
    """Something accepts connections there, and says 200 to ``path`` where one is given."""
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return path is None or _says_ok(f"http://{HOST}:{port}{path}")


def _says_ok(url: str) -> bool:
    import httpx

    try:
        return httpx.get(url, timeout=2, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def _announce(home: Path, stack: Stack) -> None:
    temporary = home / f"{FILE_NAME}.new"
    temporary.write_text(json.dumps(asdict(stack)), "utf-8")
    temporary.replace(home / FILE_NAME)


def _stop(servers: list[Server]) -> None:
    """End the children in reverse order, politely first."""
    children = [server.child for server in reversed(servers)]
    for child in children:
        child.terminate()
    deadline = time.monotonic() + STOP_TIMEOUT_S
    for child in children:
        try:
            child.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
