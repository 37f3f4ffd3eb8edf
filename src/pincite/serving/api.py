"""The API: lookups, citations and writes over HTTP."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import JSONResponse, Response

from pincite.catalog.items import PENDING
from pincite.errors import RequestInvalid
from pincite.serving.access import Principal
from pincite.serving.answers import Citation, LookupAnswer, Receipt
from pincite.serving.http_access import ids_of
from pincite.serving.models import CiteQuery, LookupBody, MemoryBody, WebBody
from pincite.serving.problems import PROBLEM_JSON
from pincite.serving.service import Service
from pincite.writing.online import ItemReceipt

Responses = dict[int | str, dict[str, Any]]

_WHAT = {
    400: "The body is no JSON.",
    401: "No token came that is known.",
    403: "The token does not open this.",
    404: "No such evidence is known to whom the token stands for.",
    409: "Something else is in the way.",
    413: "The body is too large.",
    422: "Something in the request is wrong.",
    429: "Too many requests of this token; Retry-After says how long to wait.",
    503: "A needed service is out of reach, or the server is busy.",
}


class KeyConvertor(Convertor[str]):
    """An evidence key in a path: any characters, line ends too."""

    regex = r"(?s:.+)"

    def convert(self, value: str) -> str:
        """The key."""
        return value

    def to_string(self, value: str) -> str:
        """The key."""
        return value


register_url_convertor("evidence_key", KeyConvertor())


def _problems(*statuses: int) -> Responses:
    schema = {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}
    return {status: {"description": _WHAT[status], "content": schema} for status in statuses}


_ALWAYS = (400, 401, 403, 413, 422, 429, 503)
_PENDING: Responses = {
    202: {"model": Receipt, "description": "Accepted; some of it waits to be written."}
}


def api_router(service: Service) -> APIRouter:
    """The routes below ``/v1``."""
    router = APIRouter(prefix="/v1")
    _add_lookup(router, service)
    _add_cite(router, service)
    _add_writes(router, service)
    return router


def _add_lookup(router: APIRouter, service: Service) -> None:
    @router.post("/lookup", response_model=LookupAnswer, responses=_problems(*_ALWAYS))
    async def lookup(request: Request, body: LookupBody) -> Response:
        """Evidence for a question, and how it was found."""
        result = await service.lookup(
            _principal(request),
            body.query,
            _ids(request, body.ids()),
            trace_id=request.state.trace_id,
            **body.options(),
        )
        return Response(result.to_json(), media_type="application/json")


def _add_cite(router: APIRouter, service: Service) -> None:
    @router.get(
        "/cite/{key:evidence_key}",
        response_model=Citation,
        responses=_problems(401, 403, 404, 409, 422, 429, 503),
    )
    async def cite(request: Request, key: str, given: Annotated[CiteQuery, Query()]) -> Response:
        """The exact text that an evidence key names; percent-encode the key.

        Scope ids come with the token or in headers, never in the address.
        """
        return JSONResponse(
            await service.cite(
                _principal(request),
                key,
                ids_of(request.headers),
                corpus=given.corpus,
                sha256=given.sha256,
                kb_scope=given.kb_scope,
            )
        )


def _add_writes(router: APIRouter, service: Service) -> None:
    responses = _PENDING | _problems(*_ALWAYS)

    @router.post("/memory", response_model=Receipt, responses=responses)
    async def memory(request: Request, body: MemoryBody) -> Response:
        """Remember items of people; searchable when this answers with 200."""
        ids = ids_of(request.headers)
        written = await service.write(_principal(request), "memory", body.items, ids, body.kb_scope)
        return _written(written)

    @router.post("/web", response_model=Receipt, responses=responses)
    async def web(request: Request, body: WebBody) -> Response:
        """Keep search results for a session; searchable when this answers with 200."""
        ids = ids_of(request.headers)
        written = await service.write(_principal(request), "web", body.results, ids, body.kb_scope)
        return _written(written)


def _written(receipt: ItemReceipt) -> Response:
    waits = any(one.state == PENDING for one in receipt.items)
    return JSONResponse(receipt.as_dict(), 202 if waits else 200)


def _principal(request: Request) -> Principal:
    """Whom ``Admission`` let in."""
    principal = request.state.principal
    assert isinstance(principal, Principal)
    return principal


def _ids(request: Request, given: Mapping[str, str]) -> dict[str, str | None]:
    """Ids of the body and of the headers together.

    Raises:
        RequestInvalid: They name two values of one.
    """
    found = ids_of(request.headers)
    for name, value in given.items():
        if found[name] not in (None, value):
            raise RequestInvalid(f"The body and a header name two values of {name!r}.")
        found[name] = value
    return found
