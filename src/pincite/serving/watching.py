"""For those who watch the server: does it live, can it answer, what has it done."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from pincite.serving.answers import Health
from pincite.serving.answers import Readiness as ReadinessAnswer
from pincite.serving.metrics import LookupMetrics, metrics_page
from pincite.serving.readiness import OK, Readiness

_NOT_READY: dict[int | str, dict[str, Any]] = {
    503: {"model": ReadinessAnswer, "description": "A part is missing."}
}


def watching_router(readiness: Readiness, metrics: LookupMetrics) -> APIRouter:
    """``/healthz``, ``/readyz`` and ``/metrics``."""
    router = APIRouter()

    @router.get("/healthz", response_model=Health)
    async def healthz() -> Response:
        """The process lives; nothing else is asked."""
        return JSONResponse({"status": "ok"})

    @router.get("/readyz", response_model=ReadinessAnswer, responses=_NOT_READY)
    async def readyz(request: Request) -> Response:
        """Catalogue and store answer; which does not is told to those with a token."""
        parts = await readiness.parts()
        ready = all(state == OK for state in parts.values())
        answer: dict[str, object] = {"status": "ready" if ready else "not_ready"}
        if request.state.principal is not None:
            answer["parts"] = parts
        return JSONResponse(answer, 200 if ready else 503)

    @router.get("/metrics", responses={200: {"content": {"text/plain": {}}}})
    async def metrics_(request: Request) -> Response:
        """Figures in the text format of Prometheus."""
        body, content_type = await asyncio.to_thread(metrics_page, metrics)
        return Response(body, headers={"content-type": content_type})

    return router
