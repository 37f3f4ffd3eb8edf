"""The HTTP server of a process: where it listens, and how it stops."""

from __future__ import annotations

import asyncio
import errno
import gc
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import uvicorn
from fastapi import FastAPI

from pincite.errors import ConfigInvalid
from pincite.serving.app import make_app
from pincite.settings.model import ServeSettings
from pincite.wiring import Workspace

SIGNALS = (signal.SIGINT, signal.SIGTERM)
Started = Callable[[str], None]

_WHY = {
    errno.EADDRINUSE: "something listens there already",
    errno.EACCES: "this user may not listen there",
    errno.EADDRNOTAVAIL: "it is no address of this machine",
}


class HttpServer(uvicorn.Server):
    """Leaves signals to whoever runs it, and says when it answers."""

    def __init__(self, app: FastAPI, settings: ServeSettings, started: Callable[[], None]) -> None:
        super().__init__(_config(app, settings))
        self._tell_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See the class."""
        await super().startup(sockets)
        self._tell_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """See the class."""
        yield


def _config(app: FastAPI, settings: ServeSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        # Entered by ``serve``, which lets an error of it out.
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        # Typed as whole seconds, and used as any number of them.
        timeout_graceful_shutdown=cast(int, settings.grace_ms / 1000),
    )


def listening_socket(settings: ServeSettings) -> socket.socket:
    """A socket bound to where the settings say; nothing is accepted on it yet.

    Raises:
        ConfigInvalid: The address is taken or none of this machine, or it is not loopback and
            there is no token.
    """
    family, address = _address(settings)
    if not settings.tokens and not ipaddress.ip_address(address[0]).is_loopback:
        raise ConfigInvalid(
            f"serve.host is {settings.host!r}, which others can reach, and there is no token.",
            "Add one in [[serve.tokens]], or listen on 127.0.0.1.",
        )
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as exc:
        listener.close()
        raise _not_here(settings, exc) from exc
    return listener


def _address(settings: ServeSettings) -> tuple[socket.AddressFamily, tuple[str, int]]:
    """What ``serve.host`` resolves to, IPv4 first."""
    if not settings.host.strip():
        raise ConfigInvalid("serve.host is blank.", "Give an address, such as 127.0.0.1.")
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as exc:
        raise ConfigInvalid(f"serve.host {settings.host!r} is no address or name.") from exc
    family, *_, address = sorted(found, key=lambda one: one[0] != socket.AF_INET)[0]
    return family, (str(address[0]), int(address[1]))


def _not_here(settings: ServeSettings, error: OSError) -> ConfigInvalid:
    why = _WHY.get(error.errno or 0, "the system refuses it")
    return ConfigInvalid(
        f"Cannot listen on port {settings.port} of {settings.host!r}: {why}.",
        "Choose another with --port or --host, or stop what listens there.",
    )


def url_of(listener: socket.socket) -> str:
    """Where a bound socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(workspace: Workspace, listener: socket.socket, started: Started) -> None:
    """Serve until SIGINT or SIGTERM; a second signal ends the process at once.

    What is in flight then is waited for, ``serve.grace-ms`` at most.

    Args:
        workspace: Used and not closed.
        listener: See ``listening_socket``; closed at the end.
        started: Is told the address once requests are answered.

    Raises:
        UsageError, ServiceError: What lookups need cannot be had at the start.
    """
    app = make_app(workspace)
    url = url_of(listener)

    def ready() -> None:
        # What is loaded now stays; looking through all of it again holds up every request.
        gc.collect()
        gc.freeze()
        started(url)

    server = HttpServer(app, workspace.settings.serve, ready)
    with _stopped_by_signals(server):
        await run_server(server, app, [listener])


async def run_server(server: HttpServer, app: FastAPI, listeners: Sequence[socket.socket]) -> None:
    """Serve until ``server.should_exit`` is set."""
    async with app.router.lifespan_context(app):
        await server.serve(list(listeners))


@contextmanager
def _stopped_by_signals(server: HttpServer) -> Iterator[None]:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.should_exit = True
        for wanted in SIGNALS:
            loop.remove_signal_handler(wanted)
            signal.signal(wanted, signal.SIG_DFL)

    for wanted in SIGNALS:
        loop.add_signal_handler(wanted, stop)
    try:
        yield
    finally:
        stop()
