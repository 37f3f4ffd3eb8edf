"""MCP as agents meet it: an official client, and the endpoint on a real server on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from pincite.scopes import ALL
from pincite.settings import Settings
from pincite.testing.http_server import Prepare, as_it_is, http_server
from pincite.wiring import open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

TIMEOUT_S = 30.0
# The protocol with its opening handshake, and the newest one without.
MODES = ("legacy", "2026-07-28")


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


@contextmanager
def mcp_over_http(settings: Settings, prepare: Prepare = as_it_is) -> Iterator[Served]:
    """The real server over the home of these settings, on a free port.

    Args:
        settings: Those in force; a free port is chosen.
        prepare: Is given the workspace before anything uses it, to put adapters into it.
    """
    with http_server(settings, prepare) as server:
        yield Served(f"{server.url}/mcp", server.settings)


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
