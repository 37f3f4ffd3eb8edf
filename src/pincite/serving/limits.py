"""What keeps the server able to answer: who asks, how often, how many at once, how much.

Pure ASGI, so that every mounted app is behind it too.
"""

from __future__ import annotations

import asyncio
from collections import deque

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pincite.errors import BodyTooLarge, RateLimited, ServerBusy, TokenRequired
from pincite.serving.access import Gatekeeper, Principal
from pincite.serving.buckets import Buckets
from pincite.serving.http_access import principal_of
from pincite.serving.problems import refuse, refused

HTTP = "http"
# Those who watch the server must see it also when it is busy.
WATCHED = frozenset({"/healthz", "/readyz", "/metrics"})
API = "/v1/"
METRICS = "/metrics"
MCP = "/mcp"

BODY_TIMEOUT_S = 30.0
# A client that has begun to send must get the chance to read why it is refused.
LINGER_BYTES = 8 * 2**20
LINGER_S = 2.0

_STRANGER = "\0stranger"


class Admission:
    """Puts who asks into the request's state, holds them to their rate, asks for a token.

    ``state["principal"]`` is ``None`` where no known token came. Routes outside of the API ask
    for one themselves.
    """

    def __init__(self, app: ASGIApp, gatekeeper: Gatekeeper, per_minute: int) -> None:
        self._app = app
        self._gatekeeper = gatekeeper
        self._buckets = Buckets(per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the class."""
        if scope["type"] != HTTP:
            return await self._app(scope, receive, send)
        principal, path = self._principal(scope), scope["path"]
        scope["state"]["principal"] = principal
        wait_s = 0 if path in WATCHED else self._take(principal)
        if wait_s:
            limited = RateLimited("There were too many requests.", retry_after_s=wait_s)
            return await refuse(limited, scope, receive, send)
        if principal is None and _needs_token(path):
            missing = TokenRequired("The request brings no token that is known here.")
            return await refuse(missing, scope, receive, send)
        return await self._app(scope, receive, send)

    def _principal(self, scope: Scope) -> Principal | None:
        try:
            return principal_of(Headers(scope=scope), self._gatekeeper)
        except TokenRequired:
            return None

    def _take(self, principal: Principal | None) -> int:
        return self._buckets.take(_STRANGER if principal is None else principal.name)


def _needs_token(path: str) -> bool:
    return path in (METRICS, MCP) or path.startswith((API, f"{MCP}/"))


class Concurrency:
    """Works on so many requests at once and lets none wait: over it the answer is SERVER_BUSY."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._free = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the class."""
        if scope["type"] != HTTP or scope["path"] in WATCHED:
            return await self._app(scope, receive, send)
        if not self._free:
            busy = ServerBusy("As many requests as may be are being worked on.")
            return await refuse(busy, scope, receive, send)
        self._free -= 1
        try:
            return await self._app(scope, receive, send)
        finally:
            self._free += 1


class BodyLimit:
    """Reads the body before anything else sees the request; refuses one that is too large.

    What a client says about the length is believed only if it is too much.
    """

    def __init__(self, app: ASGIApp, most_bytes: int, timeout_s: float = BODY_TIMEOUT_S) -> None:
        self._app = app
        self._most = most_bytes
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the class."""
        if scope["type"] != HTTP:
            return await self._app(scope, receive, send)
        headers, body = Headers(scope=scope), _Body(receive)
        if self._is_announced(headers):
            return await self._refuse(headers, body, scope, send)
        try:
            async with asyncio.timeout(self._timeout_s):
                await body.read(self._most)
        except TimeoutError:
            late = refused("The body did not come in time.", "Send it faster.", 408)
            return await late.response()(scope, receive, send)
        if body.size > self._most:
            return await self._refuse(headers, body, scope, send)
        return await self._app(scope, body.again, send)

    def _is_announced(self, headers: Headers) -> bool:
        length = headers.get("content-length", "")
        return length.isdecimal() and int(length) > self._most

    async def _refuse(self, headers: Headers, body: _Body, scope: Scope, send: Send) -> None:
        if "expect" not in headers:
            await body.linger()
        large = BodyTooLarge(f"The body has more than {self._most} bytes.")
        await refuse(large, scope, body.again, send)


class _Body:
    """A request's body on its way in."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._messages: deque[Message] = deque()
        self._more = True
        self.size = 0

    async def read(self, most: int) -> None:
        """Read it to its end, or to where it is too much."""
        while self._more and self.size <= most:
            self._messages.append(await self._next())

    async def linger(self) -> None:
        """Throw away what still comes, for a moment, and not for ever."""
        most = self.size + LINGER_BYTES
        try:
            async with asyncio.timeout(LINGER_S):
                while self._more and self.size < most:
                    await self._next()
        except TimeoutError:
            return

    async def again(self) -> Message:
        """What was read, as if it came now; then whatever comes: the end of the connection."""
        return self._messages.popleft() if self._messages else await self._receive()

    async def _next(self) -> Message:
        message = await self._receive()
        self.size += len(message.get("body", b""))
        self._more = message.get("more_body", False)
        return message
