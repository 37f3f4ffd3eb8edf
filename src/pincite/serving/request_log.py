"""One line for each request, and an answer also where a route fails in a way nobody thought of."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pincite.errors import ServerBusy
from pincite.serving.problems import UNEXPECTED, refuse

logger = logging.getLogger("pincite.serve")

TRACE_HEADER = "x-trace-id"


class RequestLog:
    """Logs method, route, status, latency (ms), who asked and the trace id, and nothing else.

    The trace id is that of the lookup too; every answer has it in ``X-Trace-Id``. Neither query
    strings, paths, ids nor bodies are in the line: a path holds evidence keys.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the class."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started, answered = time.perf_counter(), _Answered(send)
        answered.trace_id = uuid.uuid4().hex
        scope.setdefault("state", {}).update(trace_id=answered.trace_id, principal=None)
        try:
            await self._app(scope, receive, answered)
        except asyncio.CancelledError:
            # The grace of a stop is over. The task ends here either way.
            if answered.status is not None:
                raise
            await refuse(ServerBusy("The server is stopping."), scope, receive, answered)
        except Exception as error:
            shown = logger.isEnabledFor(logging.DEBUG)
            logger.error("request failed: %s", type(error).__name__, exc_info=shown)
            if answered.status is not None:
                raise RuntimeError("The answer broke off.") from None
            await UNEXPECTED.response()(scope, receive, answered)
        finally:
            _write(_fields(scope, answered, started))


class _Answered:
    """Sends an answer on with its trace id, and remembers its status."""

    trace_id = ""
    status: int | None = None

    def __init__(self, send: Send) -> None:
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)[TRACE_HEADER] = self.trace_id
        await self._send(message)


def _fields(scope: Scope, answered: _Answered, started: float) -> dict[str, Any]:
    principal = scope["state"]["principal"]
    return {
        "action": "request",
        "method": scope["method"] if scope["method"] in _METHODS else "other",
        "route": _route(scope),
        "status": answered.status or "none",
        "latency_ms": round((time.perf_counter() - started) * 1000),
        "principal": "-" if principal is None else principal.name,
        "trace_id": answered.trace_id,
    }


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _route(scope: Scope) -> str:
    """The template of the path, never the path."""
    return str(getattr(scope.get("route"), "path_format", None) or "-")


def _write(values: dict[str, Any]) -> None:
    logger.info(" ".join(f"{name}={value}" for name, value in values.items()), extra=values)
