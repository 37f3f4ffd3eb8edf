"""The real HTTP server for tests: in a thread of this process, or in a process of its own."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import httpx

from pincite.errors import StackFailed
from pincite.serving.app import make_app
from pincite.serving.server import HttpServer, listening_socket, run_server, url_of
from pincite.settings import Settings
from pincite.wiring import Workspace, open_workspace

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0
CALL_TIMEOUT_S = 60.0
PINCITE = ("-m", "pincite")
_SAYS_WHERE = re.compile(r"^HTTP API +(http://\S+)/v1/lookup$")

Prepare = Callable[[Workspace], None]


def as_it_is(workspace: Workspace) -> None:
    """Nothing is put in place of anything."""


@dataclass
class ThreadServer:
    """The server in a thread of its own; ``workspace`` is the one that it works with."""

    settings: Settings
    prepare: Prepare
    url: str = ""
    workspace: Workspace | None = None
    error: BaseException | None = None
    _server: HttpServer | None = None
    _told: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Serve; returns when requests are answered.

        Raises:
            StackFailed: It does not start in time.
            BaseException: What ended it instead.
        """
        self._thread = threading.Thread(target=self._run, name="http-server", daemon=True)
        self._thread.start()
        if not self._told.wait(START_TIMEOUT_S):
            raise StackFailed(f"The HTTP server did not start in {START_TIMEOUT_S:.0f} s.")
        if self.error is not None:
            raise self.error

    def ask_to_stop(self) -> None:
        """Stop as on a signal; does not wait."""
        assert self._server is not None
        self._server.should_exit = True

    def stop(self) -> None:
        """Stop, and wait until it has."""
        assert self._thread is not None
        if self._server is not None:
            self.ask_to_stop()
        self._thread.join(STOP_TIMEOUT_S)
        if self._thread.is_alive():
            raise StackFailed(f"The HTTP server did not stop in {STOP_TIMEOUT_S:.0f} s.")

    def client(self, **options: object) -> httpx.Client:
        """A client whose addresses begin at the server's root."""
        return client_of(self.url, **options)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self.error = error
        finally:
            self._told.set()

    async def _serve(self) -> None:
        with listening_socket(self.settings.serve) as listener:
            self.url = url_of(listener)
            async with open_workspace(self.settings) as workspace:
                self.prepare(workspace)
                self.workspace = workspace
                app = make_app(workspace)
                self._server = HttpServer(app, self.settings.serve, self._told.set)
                await run_server(self._server, app, [listener])


@contextmanager
def http_server(settings: Settings, prepare: Prepare = as_it_is) -> Iterator[ThreadServer]:
    """Serve in a thread.

    Args:
        settings: Those in force; a free port is chosen.
        prepare: Is given the workspace before anything uses it, to put adapters into it.
    """
    serve = settings.serve.model_copy(update={"port": 0})
    server = ThreadServer(settings.model_copy(update={"serve": serve}), prepare)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@dataclass
class ProcessServer:
    """``pincite serve`` as a process: where it answers, and what it has said on stderr so far."""

    url: str
    process: subprocess.Popen[str]
    said: list[str]

    def client(self, **options: object) -> httpx.Client:
        """A client whose addresses begin at the server's root."""
        return client_of(self.url, **options)

    def signal(self, wanted: signal.Signals = signal.SIGTERM) -> None:
        """Send it a signal; does not wait."""
        self.process.send_signal(wanted)

    def wait(self, timeout_s: float = STOP_TIMEOUT_S) -> int:
        """Its exit status, negative for a signal.

        Raises:
            TimeoutExpired: It still runs.
        """
        return self.process.wait(timeout_s)


@contextmanager
def http_process(
    folder: Path, environment: Mapping[str, str], *arguments: str, program: Sequence[str] = PINCITE
) -> Iterator[ProcessServer]:
    """Run ``pincite serve`` on a free port, in the working folder, until the block ends.

    ``program`` is what Python runs, if not the command itself.

    Raises:
        StackFailed: It ends, or does not say in time where it answers.
    """
    with subprocess.Popen(
        [sys.executable, "-P", *program, "serve", "--port", "0", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        said: list[str] = []
        reader = threading.Thread(target=_read, args=(process.stderr, said), daemon=True)
        reader.start()
        try:
            yield ProcessServer(_address(process, said), process, said)
        finally:
            _end(process)
            reader.join(STOP_TIMEOUT_S)


def _read(stream: IO[str], said: list[str]) -> None:
    with suppress(ValueError):
        for line in stream:
            said.append(line.rstrip("\n"))


def _address(process: subprocess.Popen[str], said: list[str]) -> str:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        for line in list(said):
            if found := _SAYS_WHERE.match(line):
                return found[1]
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise StackFailed(f"`pincite serve` does not answer: {said[-3:]!r}.")


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def client_of(url: str, **options: object) -> httpx.Client:
    """A client of this machine: no proxy of the environment stands between."""
    given = {"base_url": url, "timeout": CALL_TIMEOUT_S, "trust_env": False, **options}
    return httpx.Client(**given)  # type: ignore[arg-type]
