"""The HTTP application: API, MCP, the inspector and what watches it, behind one set of limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI

from pincite import __version__
from pincite.serving.access import Gatekeeper
from pincite.serving.answers import ProblemDocument
from pincite.serving.api import api_router
from pincite.serving.guards import HostGuard, SecurityHeaders
from pincite.serving.inspector.routes import inspector_router
from pincite.serving.limits import Admission, BodyLimit, Concurrency
from pincite.serving.mcp_http import McpApp, mcp_app
from pincite.serving.metrics import LookupMetrics
from pincite.serving.problems import add_problem_handlers
from pincite.serving.readiness import Readiness
from pincite.serving.request_log import RequestLog
from pincite.serving.service import Service
from pincite.serving.watching import watching_router
from pincite.settings.model import ServeSettings
from pincite.wiring import Workspace

_ABOUT = "Evidence for questions, and the exact text that every evidence key names."


def make_app(workspace: Workspace) -> FastAPI:
    """The application over a workspace whose ``lookup_parts`` nobody has used yet.

    Opens the catalogue. Its lifespan loads the model and opens the store; it closes nothing.

    Raises:
        ConfigInvalid, CatalogUnreachable: The catalogue cannot be opened.
    """
    settings = workspace.settings.serve
    service, gatekeeper = Service(workspace), Gatekeeper(settings.tokens)
    metrics = LookupMetrics(workspace.catalog, workspace.hot)
    workspace.observer = metrics
    mcp = mcp_app(service, gatekeeper)
    app = FastAPI(
        title="Pincite",
        description=_ABOUT,
        version=__version__,
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan(service, mcp),
    )
    add_problem_handlers(app)
    app.include_router(watching_router(Readiness(workspace), metrics))
    app.include_router(api_router(service))
    app.include_router(inspector_router(service, gatekeeper, workspace), include_in_schema=False)
    mcp.add_to(app)
    _guard(app, settings, gatekeeper)
    _describe(app)
    return app


def _lifespan(
    service: Service, mcp: McpApp
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.warm()
        async with mcp.running():
            yield

    return lifespan


def _guard(app: FastAPI, settings: ServeSettings, gatekeeper: Gatekeeper) -> None:
    """Put the limits around everything; what is added last is asked first."""
    app.add_middleware(BodyLimit, most_bytes=settings.max_body_bytes)
    app.add_middleware(Concurrency, most=settings.concurrency)
    app.add_middleware(Admission, gatekeeper=gatekeeper, per_minute=settings.requests_per_minute)
    app.add_middleware(HostGuard, allowed=settings.allowed_hosts)
    app.add_middleware(RequestLog)
    app.add_middleware(SecurityHeaders)


def _describe(app: FastAPI) -> None:
    """Name the problem document and the token in the OpenAPI document."""
    make = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = make()
            parts = document.setdefault("components", {})
            parts.setdefault("schemas", {})["ProblemDocument"] = ProblemDocument.model_json_schema()
            parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            document["security"] = [{"token": []}, {}]
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
