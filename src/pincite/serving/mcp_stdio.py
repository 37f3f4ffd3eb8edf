"""MCP over stdin and stdout, for a client that starts the server itself."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, cast

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server

from pincite.errors import PinciteError
from pincite.serving.access import principal_of_stdio
from pincite.serving.mcp_calls import Caller
from pincite.serving.mcp_tools import make_server
from pincite.serving.service import Service
from pincite.settings import Settings
from pincite.wiring import open_workspace

logger = logging.getLogger(__name__)

CHUNK_BYTES = 65_536
# A store that takes longer to open is for a call to tell.
OPENING_S = 5.0
# How long nothing must be under way before the end of the input is the end of the connection.
QUIET_S = 0.1
_ADVICE = (
    "Set user-id, assistant-id and conversation-id under [mcp] in pincite.toml, or as "
    "PINCITE_MCP__USER_ID and so on in the client's configuration; a tool takes no ids."
)


def serve_stdio(settings: Settings) -> None:
    """Serve one client until it closes stdin, or SIGTERM or SIGINT comes.

    What has been asked before the end of the input is answered first, within ``serve.grace-ms``.
    """
    asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    async with open_workspace(settings) as workspace:
        service = Service(workspace)
        opening = _Opening(service)
        working = _Working()
        caller = Caller(principal_of_stdio(settings.mcp), uuid.uuid4().hex, _ADVICE)
        server = make_server(service, lambda _: caller, opening.settled)
        server.middleware.append(working.watch)
        lines = _lines(_private_stdin(), working, settings.serve.grace_ms / 1000)
        try:
            with _until_signal():
                # The protocol reads it as it reads a file; unlike one, it can be cancelled.
                stdin = cast("anyio.AsyncFile[str]", lines)
                async with stdio_server(stdin=stdin) as (read, write):
                    await server.run(read, write, server.create_initialization_options())
        finally:
            await opening.stop()


class _Opening:
    """Opens the model and the store while the client says who it is; a call tells what fails."""

    def __init__(self, service: Service) -> None:
        self._until = asyncio.get_running_loop().time() + OPENING_S
        self._task = asyncio.create_task(self._open(service))

    async def _open(self, service: Service) -> None:
        try:
            await service.warm()
        except PinciteError as error:
            logger.warning("the store is not open: %s", error)
        except Exception as error:
            logger.warning("the store is not open: %s", type(error).__name__)

    async def settled(self) -> None:
        """Until it is open, or cannot be, or takes too long."""
        left = self._until - asyncio.get_running_loop().time()
        await asyncio.wait([self._task], timeout=max(0.0, left))

    async def stop(self) -> None:
        """Give up what is still being opened."""
        self._task.cancel()
        await asyncio.wait([self._task])


class _Working:
    """Counts the requests that are under way."""

    def __init__(self) -> None:
        self._count = 0

    async def watch(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        self._count += 1
        try:
            return await call_next(ctx)
        finally:
            self._count -= 1

    async def done(self) -> None:
        """Until all that came has been answered."""
        was_quiet = False
        while True:
            await asyncio.sleep(QUIET_S)
            if self._count == 0 and was_quiet:
                return
            was_quiet = self._count == 0


def _private_stdin() -> int:
    """A descriptor of stdin that nobody else reads; what stands in its place is empty."""
    private = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return private


async def _lines(fd: int, working: _Working, grace_s: float) -> AsyncIterator[str]:
    """Lines of UTF-8; ends once the input has ended and what was asked is answered."""
    line = bytearray()
    while chunk := await _read(fd):
        *ended, rest = chunk.split(b"\n")
        for one in ended:
            yield (bytes(line) + one).decode("utf-8", "replace")
            line.clear()
        line += rest
    if line:
        yield line.decode("utf-8", "replace")
    with anyio.move_on_after(grace_s):
        await working.done()


async def _read(fd: int) -> bytes:
    """What is there, as soon as something is; a thread that blocks could not be ended."""
    try:
        await anyio.wait_readable(fd)
    except PermissionError:
        # A file on a disk, which is always ready.
        await asyncio.sleep(0)
    return os.read(fd, CHUNK_BYTES)


@contextmanager
def _until_signal() -> Iterator[None]:
    """The block ends at the first SIGTERM or SIGINT; a second one ends the process."""
    loop = asyncio.get_running_loop()
    wanted = (signal.SIGTERM, signal.SIGINT)
    scope = anyio.CancelScope()

    def stop() -> None:
        for one in wanted:
            loop.remove_signal_handler(one)
            signal.signal(one, signal.SIG_DFL)
        scope.cancel()

    for one in wanted:
        loop.add_signal_handler(one, stop)
    with scope:
        yield
