"""MCP as agents meet it: an official client, and the endpoint on a real server on loopback."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from starlette.applications import Starlette
from starlette.routing import Mount

from pincite.scopes import ALL
from pincite.serving.access import Gatekeeper
from pincite.serving.mcp_http import mcp_app
from pincite.serving.service import Service
from pincite.settings import Settings
from pincite.testing.lite_server import HOST, free_port
from pincite.wiring import Workspace, open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

TIMEOUT_S = 30.0
PAUSE_S = 0.01
# The protocol with its opening handshake, and the newest one without.
MODES = ("legacy", "2026-07-28")
ServiceOf = Callable[[Workspace], Service]


@dataclass(frozen=True)
class Served:
    """Where an endpoint answers; ``url`` is that of ``/mcp``."""

    url: str
    settings: Settings

    @asynccontextmanager
    async def client(
        self,
        token: str | None = None,
        ids: Mapping[str, str] | None = None,
        mode: str = MODES[0],
        path: str = "",
    ) -> AsyncIterator[Client]:
        """An official client, with a bearer token and scope ids in its headers."""
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(
                httpx2.AsyncClient(headers=headers(token, ids), timeout=TIMEOUT_S)
            )
            transport = streamable_http_client(self.url + path, http_client=http)
            client = Client(transport, mode=mode, read_timeout_seconds=TIMEOUT_S)
            yield await stack.enter_async_context(client)


def headers(
    token: str | None = None, ids: Mapping[str, str] | None = None
) -> list[tuple[bytes, bytes]]:
    """What a client sends of its token and of whom it acts for, in UTF-8."""
    sent = {f"X-Pincite-{name.replace('_', '-')}": one for name, one in (ids or {}).items()}
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    return [(name.encode(), one.encode()) for name, one in sent.items()]


def owner(user: str, assistant: str = "a-1", conversation: str = "c-1") -> dict[str, str]:
    """The ids of somebody's memory."""
    return dict(zip(ALL["memory"], (user, assistant, conversation), strict=True))


@dataclass
class _Thread:
    """The server's own event loop and what ended it."""

    settings: Settings
    make: ServiceOf
    mounted: bool
    ended: threading.Event = field(default_factory=threading.Event)
    server: uvicorn.Server | None = None
    error: BaseException | None = None

    def run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self.error = error
        finally:
            self.ended.set()

    def wait(self) -> None:
        """Until it answers.

        Raises:
            TimeoutError: It does not.
        """
        deadline = time.monotonic() + TIMEOUT_S
        while self.server is None or not self.server.started:
            if self.error is not None:
                raise self.error
            if time.monotonic() > deadline or self.ended.wait(PAUSE_S):
                raise TimeoutError("the server does not answer")

    async def _serve(self) -> None:
        async with open_workspace(self.settings) as workspace:
            serve = self.settings.serve
            config = uvicorn.Config(
                self._app(self.make(workspace)),
                host=serve.host,
                port=serve.port,
                log_config=None,
                ws="none",
            )
            self.server = uvicorn.Server(config)
            await self.server.serve()

    def _app(self, service: Service) -> Starlette:
        endpoint = mcp_app(service, Gatekeeper(self.settings.serve.tokens))

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with endpoint.running():
                yield

        app = Starlette(lifespan=lifespan)
        if self.mounted:
            app.router.routes.append(Mount("/mcp", endpoint.app))
        else:
            endpoint.add_to(app)
        return app


@contextmanager
def mcp_over_http(
    settings: Settings, make: ServiceOf = Service, *, mounted: bool = False
) -> Iterator[Served]:
    """Serve the home of these settings at ``/mcp``, on a free port, in a thread.

    Args:
        settings: Those in force; ``serve.host`` and ``port`` are chosen here.
        make: What makes the service of a workspace.
        mounted: Mount the endpoint, so that ``/mcp`` without a slash is a redirect.
    """
    own = settings.serve.model_copy(update={"host": HOST, "port": free_port()})
    here = settings.model_copy(update={"serve": own})
    server = _Thread(here, make, mounted)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        server.wait()
        yield Served(f"http://{HOST}:{own.port}/mcp", here)
    finally:
        if server.server is not None:
            server.server.should_exit = True
        thread.join(TIMEOUT_S)


def write_folder(settings: Settings, folder: Path, documents: Mapping[str, str]) -> None:
    """Write the documents into the folder and ingest it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        (folder / name).write_text(text, "utf-8")

    async def work() -> None:
        async with open_workspace(settings):
            await ingest(IngestRequest((str(folder),)), DIRECT)

    asyncio.run(work())


def talk(work: Callable[[], Awaitable[Any]]) -> Any:
    """Run one conversation, within a limit."""

    async def bounded() -> Any:
        async with asyncio.timeout(2 * TIMEOUT_S):
            return await work()

    return asyncio.run(bounded())


def value(result: CallToolResult) -> dict[str, Any]:
    """What a tool gave; its text says the same."""
    assert not result.is_error, text(result)
    given: dict[str, Any] = result.structured_content or {}
    assert json.loads(text(result)) == given
    return given


def text(result: CallToolResult) -> str:
    """The one text of a result."""
    (content,) = result.content
    shown = getattr(content, "text", None)
    assert isinstance(shown, str)
    return shown


def error(result: CallToolResult) -> str:
    """The text of an error: one line of its code and what to do, never a traceback."""
    assert result.is_error, text(result)
    shown = text(result)
    assert "Traceback" not in shown
    assert "\n" not in shown
    return shown


def excerpts(found: Mapping[str, Any]) -> Sequence[str]:
    """The excerpts of what ``lookup_knowledge`` gave."""
    return [one["excerpt"] for one in found["results"]]
