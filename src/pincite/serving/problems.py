"""Errors as problem documents (RFC 9457): the one place where a code becomes a status.

What only whoever runs the server can put right is told to clients by its code alone: messages of
the store and of the configuration name addresses and folders. They are in the server's log.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pincite.errors import (
    AccessDenied,
    BodyTooLarge,
    CollectionConflict,
    ConfigInvalid,
    CorpusBusy,
    DocumentBusy,
    DocumentError,
    EmbedderChanged,
    EvidenceAmbiguous,
    ExtraMissing,
    IdentityConflict,
    LeaseLost,
    NotFound,
    PinciteError,
    RateLimited,
    RecipeChanged,
    RequestInvalid,
    ServerBusy,
    ServiceError,
    SourceConflict,
    TokenRequired,
    UsageError,
)

logger = logging.getLogger("pincite.serve")

PROBLEM_JSON = "application/problem+json"
TYPE_PREFIX = "urn:pincite:error:"
RETRY_AFTER_S = 2

# The nearest class of an error counts.
STATUS: Mapping[type[PinciteError], int] = {
    PinciteError: 500,
    UsageError: 422,
    ConfigInvalid: 500,
    ExtraMissing: 500,
    EmbedderChanged: 500,
    RecipeChanged: 500,
    TokenRequired: 401,
    AccessDenied: 403,
    NotFound: 404,
    EvidenceAmbiguous: 409,
    CollectionConflict: 409,
    CorpusBusy: 409,
    DocumentBusy: 409,
    IdentityConflict: 409,
    LeaseLost: 409,
    SourceConflict: 409,
    BodyTooLarge: 413,
    DocumentError: 422,
    RateLimited: 429,
    ServiceError: 503,
}
_ADVICE = {EvidenceAmbiguous.code: "Name the corpus with the parameter corpus."}
_OPERATOR = "Try again later; whoever runs the server finds the reason in its log."


@dataclass(frozen=True)
class Problem:
    """One problem document, with the headers that go with it."""

    status: int
    code: str
    detail: str
    next_step: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The JSON document; ``type`` is stable for a code."""
        return {
            "type": TYPE_PREFIX + self.code.lower().replace("_", "-"),
            "title": self.code.replace("_", " ").capitalize(),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "next": self.next_step,
        }

    def response(self) -> Response:
        """The answer."""
        body = json.dumps(self.as_dict(), ensure_ascii=False).encode("utf-8", "backslashreplace")
        return Response(body, self.status, dict(self.headers), PROBLEM_JSON)


def problem_of(error: PinciteError) -> Problem:
    """The problem that an error is to a client."""
    status = _status(type(error))
    if _is_operators(error, status):
        detail = f"The server cannot answer this now ({error.code})."
        return Problem(status, error.code, detail, _OPERATOR, _headers(error, status))
    advice = _ADVICE.get(error.code, error.next_step)
    return Problem(status, error.code, error.message, advice, _headers(error, status))


UNEXPECTED = Problem(500, PinciteError.code, "Something unexpected happened.", _OPERATOR)


def refused(detail: str, next_step: str, status: int, **headers: str) -> Problem:
    """A request that no part of the engine has seen."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Problem(status, RequestInvalid.code, detail, next_step, named)


async def refuse(error: PinciteError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the error."""
    await problem_of(error).response()(scope, receive, send)


def _status(kind: type[PinciteError]) -> int:
    return next(STATUS[one] for one in kind.__mro__ if one in STATUS)


def _is_operators(error: PinciteError, status: int) -> bool:
    return status >= 500 and not isinstance(error, ServerBusy)


def _headers(error: PinciteError, status: int) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="pincite"'}
    if status == 429:
        return {"Retry-After": str(error.attributes.get("retry_after_s", 1))}
    return {"Retry-After": str(RETRY_AFTER_S)} if status == 503 and error.retryable else {}


def add_problem_handlers(app: FastAPI) -> None:
    """Let the app answer with problem documents, whatever goes wrong in a route."""
    app.add_exception_handler(PinciteError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)


async def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, PinciteError)
    problem = problem_of(error)
    if _is_operators(error, problem.status):
        trace_id = request.scope.get("state", {}).get("trace_id", "")
        logger.error("trace_id=%s %s", trace_id, error)
    return problem.response()


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return refused("The body is no JSON.", RequestInvalid.advice, 400).response()
    detail = f"{_place(first['loc'], first['type'])}: {first['msg']}."
    return refused(detail, RequestInvalid.advice, 422).response()


def _place(loc: Sequence[Any], kind: str) -> str:
    """Where something is wrong; the name of an unknown field is the client's and stays out."""
    known = loc[:-1] if kind == "extra_forbidden" else loc
    return ".".join(map(str, known)) or "request"


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    if status == 404:
        problem = refused("There is nothing at this path.", "GET /openapi.json lists them.", 404)
    elif status == 405:
        allowed = (error.headers or {}).get("Allow", "")
        detail = "The path does not know this method."
        problem = refused(detail, "Use the method that Allow names.", 405, Allow=allowed)
    else:
        phrase = HTTPStatus(status).phrase
        problem = refused(f"{phrase}.", RequestInvalid.advice, status)
    return problem.response()
