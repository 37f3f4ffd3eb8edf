"""Errors as pages: the code, what happened, and what to do next."""

import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from pincite.errors import (
    EvidenceAmbiguous,
    EvidenceNotFound,
    PinciteError,
    ScopeRequired,
    TokenRequired,
)
from pincite.serving.inspector.page import page
from pincite.serving.problems import UNEXPECTED, Problem, problem_of

logger = logging.getLogger("pincite.serve")

# A browser asks the person for what this header wants; the name that they give does not matter.
_ASK = {"WWW-Authenticate": 'Basic realm="pincite", charset="UTF-8"'}
_ADVICE = {
    TokenRequired.code: "Reload, and give a token as the password; any name will do.",
    ScopeRequired.code: "Fill in the ids under “Scope and category”.",
    EvidenceNotFound.code: "Open it from the answer that showed it, with the same scope.",
    EvidenceAmbiguous.code: "Open it from an answer, or add corpus=NAME to the address.",
}

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route whose errors are pages."""

    def get_route_handler(self) -> Handler:
        """See ``APIRoute``."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except PinciteError as error:
                return error_page(request, failure_of(request, error))
            except Exception as error:
                logger.error("page failed: %s", type(error).__name__)
                logger.debug("page failed", exc_info=True)
                return error_page(request, UNEXPECTED)

        return handled


def failure_of(request: Request, error: PinciteError) -> Problem:
    """What a page says of the error; what only the operator can mend is in the log."""
    problem = problem_of(error)
    if problem.status >= 500:
        trace_id = request.scope.get("state", {}).get("trace_id", "")
        logger.error("trace_id=%s %s", trace_id, error)
    advice = _ADVICE.get(error.code, problem.next_step)
    headers = _ASK if isinstance(error, TokenRequired) else problem.headers
    return replace(problem, next_step=advice, headers=headers)


def error_page(request: Request, problem: Problem) -> Response:
    """The error, and nothing else."""
    response = page(request, "error.html", problem.status, problem=problem)
    response.headers.update(problem.headers)
    return response
