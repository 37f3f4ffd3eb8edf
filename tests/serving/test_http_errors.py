"""Whatever goes wrong is a problem document: coded, with what to do next, and nothing else."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from pincite import errors
from pincite.errors import (
    CatalogUnreachable,
    ConfigInvalid,
    CorpusBusy,
    EmbedderChanged,
    EvidenceAmbiguous,
    PinciteError,
    RateLimited,
    ServerBusy,
    ServiceError,
    StoreLocked,
    StoreUnreachable,
)
from pincite.serving.problems import STATUS, problem_of
from pincite.testing.faults import put, raising
from pincite.testing.homes import Home
from pincite.testing.http_kit import PARIS, cite_path, filled_home, problem
from pincite.testing.http_server import Prepare, ThreadServer, http_server
from pincite.wiring import Workspace

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, PinciteError)
]
SECRET = "hunter2"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return filled_home(tmp_path_factory.mktemp("http-errors"))


@pytest.fixture(scope="module")
def server(home: Home) -> Iterator[ThreadServer]:
    with http_server(home.settings) as server:
        yield server


@pytest.fixture(scope="module")
def client(server: ThreadServer) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_a_status_that_fits_its_kind(kind: type[PinciteError]) -> None:
    found = problem_of(kind("What happened.", "What to do."))
    assert found.status in set(STATUS.values())
    assert found.code == kind.code
    if issubclass(kind, ServiceError):
        assert found.status == 503
        assert ("Retry-After" in found.headers) == kind.retryable
    if issubclass(kind, errors.NotFound):
        assert found.status in (404, 409)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.RequestInvalid, 422),
        (errors.ScopeRequired, 422),
        (errors.ItemInvalid, 422),
        (errors.TokenRequired, 401),
        (errors.AccessDenied, 403),
        (errors.EvidenceNotFound, 404),
        (errors.CorpusBusy, 409),
        (errors.SourceConflict, 409),
        (errors.CollectionConflict, 409),
        (errors.BodyTooLarge, 413),
        (errors.RateLimited, 429),
        (errors.ServerBusy, 503),
        (errors.StoreUnreachable, 503),
        (errors.ConfigInvalid, 500),
        (errors.PinciteError, 500),
    ],
)
def test_statuses_are_as_documented(kind: type[PinciteError], status: int) -> None:
    assert problem_of(kind("x")).status == status


@pytest.mark.parametrize("kind", [StoreUnreachable, StoreLocked, ConfigInvalid, EmbedderChanged])
def test_what_only_the_operator_can_mend_is_told_by_its_code(kind: type[PinciteError]) -> None:
    found = problem_of(kind(f"The store at 'http://user:{SECRET}@10.0.0.9' fails.", SECRET))
    assert SECRET not in json.dumps(found.as_dict())
    assert "10.0.0.9" not in json.dumps(found.as_dict())


@pytest.mark.parametrize("kind", [CorpusBusy, ServerBusy, RateLimited])
def test_what_a_client_can_wait_for_is_told_in_words(kind: type[PinciteError]) -> None:
    assert problem_of(kind("Another run is writing.")).detail == "Another run is writing."


def test_advice_of_the_command_line_is_put_in_terms_of_http() -> None:
    assert "--corpus" not in problem_of(EvidenceAmbiguous("Two hold it.")).next_step


def test_a_401_asks_for_a_bearer_token() -> None:
    headers = problem_of(errors.TokenRequired("x")).headers
    assert headers["WWW-Authenticate"].startswith("Bearer ")


@pytest.mark.parametrize(
    "path", ["/nope", "/v1/nope", "/v1/lookup/", "/docs", "/redoc", "/v1/cite"]
)
def test_unknown_paths_are_problems(client: httpx.Client, path: str) -> None:
    problem(client.get(path), 404, "REQUEST_INVALID")


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/lookup"), ("DELETE", "/healthz")])
def test_unknown_methods_are_problems(client: httpx.Client, method: str, path: str) -> None:
    answer = client.request(method, path)
    problem(answer, 405, "REQUEST_INVALID")
    assert answer.headers["allow"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"query": "x"', b"\xff\xfe{}", b"[" * 100_000, b"nothing"]
)
def test_a_body_that_is_no_json_is_a_problem(client: httpx.Client, body: bytes) -> None:
    answer = client.post("/v1/lookup", content=body, headers={"content-type": "application/json"})
    problem(answer, answer.status_code, "REQUEST_INVALID")
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_of_another_type_is_refused(client: httpx.Client, kind: str) -> None:
    answer = client.post("/v1/lookup", content=b'{"query": "x"}', headers={"content-type": kind})
    problem(answer, 422, "REQUEST_INVALID")


@pytest.mark.parametrize(
    "body",
    [
        {"query": 7},
        {"query": ["x"]},
        {},
        [],
        "x",
        None,
        {"query": "x", "retrieveK": "5"},
        {"query": "x", "returnN": True},
        {"query": "x", "returnN": 0},
        {"query": "x", "retrieveK": 10**30},
        {"query": "x", "threshold": 2},
        {"query": "x", "mode": SECRET},
        {"query": "x", "corpus": "nope"},
        {"query": "x", "kbScope": ""},
        {"query": " "},
        {"query": "\ud800"},
        {"query": "x", SECRET: 1},
        {"query": "x", "timeoutMs": 1},
        {"query": "x", "connection": SECRET},
        {"query": "x", "maxSensitivity": -1},
    ],
    ids=repr,
)
def test_a_wrong_body_is_a_problem_that_does_not_repeat_it(
    client: httpx.Client, body: object
) -> None:
    answer = client.post("/v1/lookup", content=json.dumps(body), headers=JSON)
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] in ("REQUEST_INVALID", "SCOPE_INVALID")
    assert SECRET not in answer.text


JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(client: httpx.Client, number: str) -> None:
    body = f'{{"query": "x", "threshold": {number}}}'
    problem(client.post("/v1/lookup", content=body, headers=JSON), 422, "REQUEST_INVALID")


def test_a_query_that_is_too_long_is_refused_whole(client: httpx.Client) -> None:
    assert client.post("/v1/lookup", json={"query": "é" * 8_000}).status_code == 200
    answer = client.post("/v1/lookup", json={"query": "é" * 8_001})
    assert "8001" in problem(answer, 422, "REQUEST_INVALID")["detail"]


def test_a_request_that_is_no_http_ends_in_a_400(server: ThreadServer) -> None:
    where = urlsplit(server.url)
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=10) as raw:
        raw.sendall(b"nonsense\r\n\r\n")
        assert raw.recv(1_000).startswith(b"HTTP/1.1 400 ")


def store_that_raises(error: BaseException) -> Prepare:
    def prepare(workspace: Workspace) -> None:
        workspace.store = put(workspace.store, "search", raising(error))

    return prepare


def catalog_that_raises(error: BaseException) -> Prepare:
    def prepare(workspace: Workspace) -> None:
        workspace.catalog = put(workspace.catalog, "ledger.entries", raising(error))

    return prepare


def test_a_store_out_of_reach_is_a_503_to_be_tried_again(home: Home) -> None:
    gone = StoreUnreachable(f"The store at 'http://{SECRET}' cannot be reached.")
    with http_server(home.settings, store_that_raises(gone)) as server, server.client() as client:
        answer = client.post("/v1/lookup", json={"query": "France"})
        problem(answer, 503, "STORE_UNREACHABLE")
        assert int(answer.headers["retry-after"]) >= 1
        assert SECRET not in answer.text


def test_the_reason_is_in_the_log_with_the_trace_id(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    gone = StoreUnreachable("The store at 'http://10.0.0.9' cannot be reached.")
    caplog.set_level(logging.INFO, "pincite.serve")
    with http_server(home.settings, store_that_raises(gone)) as server, server.client() as client:
        trace_id = client.post("/v1/lookup", json={"query": "x"}).headers["x-trace-id"]
    (line,) = [one.message for one in caplog.records if "10.0.0.9" in one.message]
    assert trace_id in line
    assert "STORE_UNREACHABLE" in line


def test_an_unexpected_error_says_nothing_of_itself(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    fault = catalog_that_raises(KeyError(f"private text {SECRET}"))
    caplog.set_level(logging.INFO)
    with http_server(home.settings, fault) as server, server.client() as client:
        answer = client.get(cite_path(PARIS))
        problem(answer, 500, "INTERNAL")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert client.get("/healthz").status_code == 200
    assert SECRET not in answer.text
    assert SECRET not in caplog.text
    assert "KeyError" in caplog.text


def test_a_catalogue_out_of_reach_is_a_503(home: Home) -> None:
    fault = catalog_that_raises(CatalogUnreachable(f"The catalogue at {SECRET!r} is gone."))
    with http_server(home.settings, fault) as server, server.client() as client:
        answer = client.get(cite_path(PARIS))
        problem(answer, 503, "CATALOG_UNREACHABLE")
        assert SECRET not in answer.text
