"""The local stack: Prefect server and Milvus Lite server of one home, on loopback.

While it runs, ``stack.json`` under the home says where; every other command looks there.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pincite.errors import StackFailed
from pincite.prefect_environment import server_environment
from pincite.settings import Settings

HOST = "127.0.0.1"
PREFECT_PORT = 4200
STORE_PORT = 19530
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 15.0
FILE_NAME = "stack.json"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Stack:
    """Where a running stack answers; ``store_uri`` is empty when the store is another server."""

    pid: int
    prefect_api_url: str
    prefect_ui_url: str
    store_uri: str


def running_stack(home: Path) -> Stack | None:
    """The stack of this home, ``None`` when none runs."""
    try:
        stack = Stack(**json.loads((home / FILE_NAME).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return stack if _alive(stack.pid) else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def serve_stack(settings: Settings, progress: Progress) -> Iterator[Stack]:
    """Start the servers, wait until they answer, and stop them at the end of the block.

    Raises:
        StackFailed: A stack runs already, or a server does not answer in time.
    """
    home = settings.home
    running = running_stack(home)
    if running is not None:
        raise StackFailed(
            f"The stack of {str(home)!r} runs already: {running.prefect_ui_url}.",
            f"Use it, or stop process {running.pid} first.",
        )
    logs = home / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    children: list[subprocess.Popen[bytes]] = []
    try:
        prefect_port = free_port(PREFECT_PORT)
        children.append(_start_prefect(settings, prefect_port, logs / "prefect.log"))
        store_uri = ""
        if not settings.store.uri:
            store_port = free_port(STORE_PORT)
            children.append(_start_store(settings, store_port, logs / "milvus-lite.log"))
            _wait(children[-1], store_port, logs / "milvus-lite.log")
            store_uri = f"http://{HOST}:{store_port}"
            progress(f"Milvus Lite server  {store_uri}")
        _wait(children[0], prefect_port, logs / "prefect.log", path="/api/health")
        address = f"http://{HOST}:{prefect_port}"
        progress(f"Prefect server      {address}")
        stack = Stack(os.getpid(), f"{address}/api", address, store_uri)
        _announce(home, stack)
        yield stack
    finally:
        (home / FILE_NAME).unlink(missing_ok=True)
        _stop(children)


def free_port(wanted: int) -> int:
    """``wanted`` where nothing listens on it, else another free TCP port of this machine."""
    for port in (wanted, 0):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
            return int(probe.getsockname()[1])
    raise StackFailed("This machine has no free TCP port.", "Stop something that listens.")


def _start_prefect(settings: Settings, port: int, log: Path) -> subprocess.Popen[bytes]:
    command = ["-m", "prefect", "server", "start", "--host", HOST, "--port", str(port)]
    environment = server_environment(settings.home, port)
    return _start(command, log, {**os.environ, **environment})


def _start_store(settings: Settings, port: int, log: Path) -> subprocess.Popen[bytes]:
    # Without --host it would listen on every interface.
    options = ["--data-dir", settings.store_uri, "--port", str(port), "--host", HOST]
    return _start(["-m", "milvus_lite", "server", *options], log, os.environ)


def _start(
    arguments: list[str], log: Path, environment: Mapping[str, str]
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
        )


def _wait(child: subprocess.Popen[bytes], port: int, log: Path, path: str | None = None) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and child.poll() is None:
        if answers(port, path):
            return
        time.sleep(0.1)
    raise StackFailed(
        f"A server did not start in {START_TIMEOUT_S:.0f} s.", f"Look at {str(log)!r}."
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


def _stop(children: list[subprocess.Popen[bytes]]) -> None:
    """End the children in reverse order, politely first."""
    for child in reversed(children):
        child.terminate()
    deadline = time.monotonic() + STOP_TIMEOUT_S
    for child in reversed(children):
        try:
            child.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
