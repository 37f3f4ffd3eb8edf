"""MCP over streamable HTTP, as an ASGI application below another one.

No session is kept: every request says by its token and headers on whose behalf it comes, so that
any worker can answer it, and a restart ends nothing. Of an older protocol version's session only
its name remains, which such a client is given at its start and sends along; it parts the
connections of one token. The newest version knows no connections at all.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pincite.errors import PinciteError, ServerBusy, TokenRequired
from pincite.serving.access import Gatekeeper, Principal
from pincite.serving.guards import HostGuard
from pincite.serving.http_access import ID_HEADERS, connection_of, ids_of, principal_of
from pincite.serving.mcp_calls import Caller, Explained
from pincite.serving.mcp_tools import make_server
from pincite.serving.problems import problem_of, refuse, refused
from pincite.serving.service import Service
from pincite.settings import Settings

logger = logging.getLogger(__name__)

SESSION_HEADER = "mcp-session-id"
_CALLER = "pincite.caller"
_SESSION = "pincite.mcp_session"
_ADVICE = (
    "Send the headers X-Pincite-User-Id, X-Pincite-Assistant-Id and X-Pincite-Conversation-Id, "
    "or bind them to the token in [[serve.tokens]]; a tool takes no ids."
)


class McpApp:
    """The endpoint: ``app`` is the ASGI application, whatever path it stands at.

    It answers while ``running()`` is entered, which may be done again after it was left.
    """

    def __init__(self, server: Server[Any], gatekeeper: Gatekeeper, settings: Settings) -> None:
        self._endpoint = _Endpoint(gatekeeper)
        self._server = server
        self._settings = settings.serve
        self.app: ASGIApp = HostGuard(self._endpoint, settings.serve.allowed_hosts)

    def add_to(self, app: Starlette, path: str = "/mcp") -> None:
        """Answer at ``path`` and below ``path/``, without a redirect that drops a token."""
        for one in (path, f"{path}/"):
            app.router.routes.append(Route(one, self.app, include_in_schema=False))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """What the lifespan of the outer application has to enter."""
        manager = StreamableHTTPSessionManager(
            self._server,
            json_response=True,
            stateless=True,
            # The guard of the whole server stands before it; its own has another idea of hosts.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=self._settings.max_body_bytes,
        )
        async with manager.run():
            self._endpoint.manager = manager
            try:
                yield
            finally:
                self._endpoint.manager = None


class _Endpoint:
    """Lets nothing through to the protocol that does not say on whose behalf it comes."""

    def __init__(self, gatekeeper: Gatekeeper) -> None:
        self._gatekeeper = gatekeeper
        self.manager: StreamableHTTPSessionManager | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        headers = Headers(scope=scope)
        try:
            caller = _caller(principal_of(headers, self._gatekeeper), headers)
            manager = self._running()
        except (TokenRequired, ServerBusy) as error:
            await refuse(error, scope, receive, send)
            return
        if scope["method"] == "POST":
            await _serve(manager, {**scope, _CALLER: caller}, receive, send)
        else:
            await _ONLY_POST.response()(scope, receive, send)

    def _running(self) -> StreamableHTTPSessionManager:
        if self.manager is None:
            raise ServerBusy("The server is starting or stopping.")
        return self.manager


# There is no stream to listen to and no session to end.
_ONLY_POST = refused("MCP is asked by POST.", "Use the method that Allow names.", 405, Allow="POST")


async def _serve(
    manager: StreamableHTTPSessionManager, scope: Scope, receive: Receive, send: Send
) -> None:
    async def named(message: Message) -> None:
        await send(_with_session(message, scope.get(_SESSION)))

    await manager.handle_request(scope, receive, named)


def mcp_app(service: Service, gatekeeper: Gatekeeper) -> McpApp:
    """The MCP endpoint of a service."""
    server = make_server(service, _caller_of)
    server.middleware.append(_name_session)
    return McpApp(server, gatekeeper, service.settings)


def _caller(principal: Principal, headers: Headers) -> Caller:
    ids = ids_of(headers)
    return Caller(principal, _connection(principal, headers, ids), _ADVICE, ids, _explained)


def _explained(error: PinciteError) -> Explained:
    """What every client of the server may be told; the rest is in its log."""
    problem = problem_of(error)
    if problem.detail != error.message:
        logger.error("%s", error)
    return Explained(problem.detail, problem.next_step)


def _connection(principal: Principal, headers: Headers, ids: Mapping[str, str | None]) -> str:
    """By the session's name and every id: what one user was told is nothing to another."""
    session = [headers.get(SESSION_HEADER), *(ids[name] for name in ID_HEADERS)]
    return connection_of(principal, json.dumps(session))


def _caller_of(context: ServerRequestContext[Any, Any]) -> Caller:
    assert context.request is not None
    caller = context.request.scope[_CALLER]
    assert isinstance(caller, Caller)
    return caller


async def _name_session(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Give a session that begins its name, which goes out with the answer's head."""
    result = await call_next(ctx)
    if ctx.method == "initialize" and ctx.request is not None:
        ctx.request.scope[_SESSION] = uuid.uuid4().hex
    return result


def _with_session(message: Message, session: str | None) -> Message:
    if session is None or message["type"] != "http.response.start":
        return message
    named = (SESSION_HEADER.encode(), session.encode())
    return {**message, "headers": [*message.get("headers", ()), named]}
