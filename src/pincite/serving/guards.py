"""Pages of other sites: they may not call the server by a name of theirs, nor frame its answers."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pincite.errors import AccessDenied
from pincite.serving.problems import refuse, refused

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PORTS = {"http": 80, "https": 443}

NO_FRAMES = "frame-ancestors 'none'"
_CSP = "content-security-policy"
_FIXED = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
_DEFAULTS = {"cache-control": "no-store", _CSP: f"default-src 'none'; {NO_FRAMES}"}


class HostGuard:
    """Refuses a ``Host`` that is not the server's, and an ``Origin`` of elsewhere.

    The server's are the address that the connection came to, loopback, and the names that are
    allowed; ports do not matter. Without this, a page whose name is made to resolve to this
    machine could read answers. An ``Origin`` matters where a request changes something: it must
    be what ``Host`` says, or an allowed name.
    """

    def __init__(self, app: ASGIApp, allowed: Iterable[str]) -> None:
        self._app = app
        self._allowed = frozenset(host for name in allowed if (host := split_host(name)[0]))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the class."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        if not self._is_own(headers.get("host", ""), scope):
            wrong = refused(
                "The server is not called by this name.",
                "Use its address, or add the name to serve.allowed-hosts.",
                421,
            )
            return await wrong.response()(scope, receive, send)
        if scope["method"] not in SAFE and not self._is_same(headers):
            foreign = AccessDenied(
                "The request comes from a page of another origin.",
                "Ask from a page of this server, or from a program.",
            )
            return await refuse(foreign, scope, receive, send)
        return await self._app(scope, receive, send)

    def _is_own(self, given: str, scope: Scope) -> bool:
        host, _ = split_host(given)
        if not host:
            return False
        own = split_host(_bracketed((scope.get("server") or ("",))[0]))[0]
        return host in self._allowed or host == own or is_loopback(host)

    def _is_same(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin is None:
            return True
        scheme, _, rest = origin.partition("://")
        name, port = split_host(rest)
        default = _PORTS.get(scheme)
        if default is None or not name:
            return False
        host, host_port = split_host(headers.get("host", ""))
        same = name == host and (port or default) == (host_port or default)
        return same or name in self._allowed


def split_host(given: str) -> tuple[str, int | None]:
    """Host and port of ``host[:port]``: lower case, no brackets, no dot at the end.

    ``("", None)`` for what is none.
    """
    try:
        parts = urlsplit(f"//{given}")
        port = parts.port
    except ValueError:
        return "", None
    if parts.netloc != given or "@" in given or not parts.hostname:
        return "", None
    host = parts.hostname.lower()
    return (host[:-1] if host.endswith(".") else host), port


def is_loopback(host: str) -> bool:
    """Whether a host of ``split_host`` is this machine, whatever a name server says."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


class SecurityHeaders:
    """Adds to every answer what browsers must not do with it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the class."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add(MutableHeaders(scope=message))
            await send(message)

        await self._app(scope, receive, guarded)


def _add(headers: MutableHeaders) -> None:
    for name, value in _FIXED.items():
        headers[name] = value
    if _CSP in headers and NO_FRAMES not in headers[_CSP]:
        # A browser keeps every policy that it is given.
        headers.append(_CSP, NO_FRAMES)
    for name, value in _DEFAULTS.items():
        headers.setdefault(name, value)
