"""The pages of the inspector: a question and its answer, citations, figures."""

import asyncio
from typing import Any

from fastapi import APIRouter
from starlette.convertors import register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from pincite.errors import AccessDenied, PinciteError
from pincite.serving.access import READ, Gatekeeper, Principal
from pincite.serving.api import KeyConvertor
from pincite.serving.http_access import ids_of, principal_of
from pincite.serving.inspector.answer import Answer, answer_of
from pincite.serving.inspector.charts import PERIODS, USUAL_PERIOD, charts_of
from pincite.serving.inspector.citation import cited_text
from pincite.serving.inspector.failures import PageRoute, error_page, failure_of
from pincite.serving.inspector.form import Asked, asked_of, cited_of, ids_in_force, offered
from pincite.serving.inspector.page import asset, page, sees_figures
from pincite.serving.problems import refused
from pincite.serving.service import Service
from pincite.wiring import Workspace

register_url_convertor("evidence_key", KeyConvertor())


def inspector_router(service: Service, gatekeeper: Gatekeeper, workspace: Workspace) -> APIRouter:
    """The routes ``/``, ``/evidence/{key}``, ``/figures`` and ``/inspector/{name}``.

    Args:
        service: What the pages ask.
        gatekeeper: Tells who looks at them.
        workspace: Where the figures are.
    """
    router = APIRouter(route_class=PageRoute, include_in_schema=False)
    pages = _Pages(service, gatekeeper, workspace)
    for path, endpoint in (
        ("/", pages.search),
        ("/evidence/{key:evidence_key}", pages.evidence),
        ("/figures", pages.figures),
        ("/inspector/{name}", _asset),
    ):
        router.add_api_route(path, endpoint, methods=["GET"], response_class=Response)
    return router


class _Pages:
    """The pages, each on behalf of whoever the request's token stands for."""

    def __init__(self, service: Service, gatekeeper: Gatekeeper, workspace: Workspace) -> None:
        self._service = service
        self._gatekeeper = gatekeeper
        self._workspace = workspace

    async def search(self, request: Request) -> Response:
        """The form; with ``q`` the answer below it, or why there is none."""
        principal = self._principal(request)
        asked = asked_of(request.query_params)
        if asked.question is None:
            return self._searched(request, principal, asked)
        try:
            answer = await self._answer(request, principal, asked, asked.question)
        except PinciteError as error:
            return self._failed(request, principal, asked, error)
        return self._searched(request, principal, asked, answer=answer)

    async def _answer(
        self, request: Request, principal: Principal, asked: Asked, question: str
    ) -> Answer:
        result = await self._service.lookup(
            principal,
            question,
            ids_in_force(asked.ids, ids_of(request.headers)),
            corpus=",".join(asked.corpora) or None,
            kb_scope=asked.kb_scope or None,
            category=asked.category or None,
            trace_id=request.scope.get("state", {}).get("trace_id"),
        )
        return answer_of(result, asked)

    def _failed(
        self, request: Request, principal: Principal, asked: Asked, error: PinciteError
    ) -> Response:
        """The form as it was filled in, so that it can be put right."""
        problem = failure_of(request, error)
        response = self._searched(request, principal, asked, problem.status, problem=problem)
        response.headers.update(problem.headers)
        return response

    def _searched(
        self,
        request: Request,
        principal: Principal,
        asked: Asked,
        status: int = 200,
        **shown: Any,
    ) -> Response:
        settings = self._service.settings
        given: dict[str, Any] = {"answer": None, "problem": None, **shown}
        usual, most = settings.lookup.corpora, settings.serve.max_query_chars
        form = offered(principal, usual, most)
        return page(request, "search.html", status, principal, asked=asked, form=form, **given)

    async def evidence(self, request: Request, key: str) -> Response:
        """The citation of a key in its source text."""
        principal = self._principal(request)
        cited = cited_of(request.query_params)
        citation, kept = await self._service.cite_in_text(
            principal,
            key,
            ids_in_force(cited.ids, ids_of(request.headers)),
            corpus=cited.corpus,
            sha256=cited.sha256,
            kb_scope=cited.kb_scope,
        )
        shown = cited_text(citation, kept, cited)
        return page(request, "citation.html", principal=principal, cited=shown)

    async def figures(self, request: Request) -> Response:
        """Charts of the corpora that the token opens."""
        principal = self._principal(request)
        principal.require(READ, [])
        if not sees_figures(principal):
            raise AccessDenied(
                "Figures count what everybody asked; this token is bound to a scope.",
                "Use a token that is bound to none.",
            )
        period = request.query_params.get("period") or USUAL_PERIOD
        charts = await asyncio.to_thread(
            charts_of, self._workspace.catalog, principal.corpora, period
        )
        return page(
            request,
            "figures.html",
            principal=principal,
            charts=charts,
            period=period,
            periods=PERIODS,
        )

    def _principal(self, request: Request) -> Principal:
        return principal_of(request.headers, self._gatekeeper)


async def _asset(request: Request, name: str) -> Response:
    """A file of the pages, which anybody may see."""
    found = asset(name)
    if found is None:
        nothing = refused("There is nothing at this path.", "Begin at /.", 404)
        return error_page(request, nothing)
    return found
