"""What those see who watch the server: health, readiness, figures, the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from pincite.errors import CatalogUnreachable, StoreUnreachable
from pincite.serving.readiness import PROBE_S
from pincite.testing.faults import Fault, hanging, put, raising
from pincite.testing.homes import Home
from pincite.testing.http_kit import (
    PARIS,
    bearer,
    cite_path,
    filled_home,
    id_headers,
    owner,
    problem,
    secret_of,
    token,
)
from pincite.testing.http_server import Prepare, http_server
from pincite.wiring import Workspace

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return filled_home(tmp_path_factory.mktemp("http-watching"))


@pytest.fixture
def client(home: Home) -> Iterator[httpx.Client]:
    with http_server(home.settings) as server, server.client() as client:
        yield client


class Switch:
    """A fault that is there while it is on."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.on = False

    def in_store(self, workspace: Workspace) -> None:
        workspace.store = put(workspace.store, "search", self.fault, lambda *_, **__: self.on)

    def in_catalog(self, workspace: Workspace) -> None:
        workspace.catalog = put(workspace.catalog, "revision", self.fault, lambda *_, **__: self.on)


def in_(switch: Switch, part: str) -> Prepare:
    return switch.in_store if part == "store" else switch.in_catalog


def test_a_server_that_can_answer_is_ready(client: httpx.Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ready", "parts": {"catalog": "ok", "store": "ok"}}


def test_an_empty_home_is_ready(tmp_path_factory: pytest.TempPathFactory) -> None:
    empty = Home(tmp_path_factory.mktemp("empty"))
    with http_server(empty.settings) as server, server.client() as client:
        assert client.get("/readyz").json()["status"] == "ready"
        answer = client.post("/v1/lookup", json={"query": "x"})
        assert (answer.status_code, answer.json()["evidenceStatus"]) == (200, "NONE")


@pytest.mark.parametrize(
    ("part", "error", "parts"),
    [
        ("store", StoreUnreachable("Gone."), {"catalog": "ok", "store": "STORE_UNREACHABLE"}),
        (
            "catalog",
            CatalogUnreachable("Gone."),
            {"catalog": "CATALOG_UNREACHABLE", "store": "unknown"},
        ),
        ("store", KeyError("odd"), {"catalog": "ok", "store": "STORE_REJECTED"}),
        ("catalog", KeyError("odd"), {"catalog": "INTERNAL", "store": "unknown"}),
    ],
)
def test_a_part_that_is_missing_is_named_until_it_is_back(
    home: Home, part: str, error: Exception, parts: dict[str, str]
) -> None:
    switch = Switch(raising(error))
    with http_server(home.settings, in_(switch, part)) as server, server.client() as client:
        assert client.get("/readyz").status_code == 200
        switch.on = True
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()) == (503, {"status": "not_ready", "parts": parts})
        assert client.get("/healthz").status_code == 200
        switch.on = False
        assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize("part", ["store", "catalog"])
def test_a_part_that_hangs_is_told_in_time_and_asked_once(home: Home, part: str) -> None:
    switch = Switch(hanging())
    with http_server(home.settings, in_(switch, part)) as server, server.client() as client:
        switch.on = True
        started = time.monotonic()
        for _ in range(2):
            assert client.get("/readyz").status_code == 503
            assert client.get("/healthz").status_code == 200
        assert time.monotonic() - started < 2 * PROBE_S + 5
        switch.fault.release()


def test_details_are_for_those_with_a_token(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = filled_home(tmp_path_factory.mktemp("tokens"), **{"serve.tokens": [token("one")]})
    with http_server(home.settings) as server, server.client() as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        assert client.get("/readyz").json() == {"status": "ready"}
        assert "parts" in client.get("/readyz", headers=bearer("one")).json()
        problem(client.get("/metrics"), 401, "TOKEN_REQUIRED")
        assert client.get("/metrics", headers=bearer("one")).status_code == 200


def test_metrics_count_the_lookups_of_this_server(client: httpx.Client) -> None:
    for _ in range(3):
        assert client.post("/v1/lookup", json={"query": "capital of France"}).status_code == 200
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    counted = {
        (sample.name, sample.labels.get("corpus")): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if sample.value
    }
    assert counted["pincite_lookup_hits_total", "docs"] == 3
    assert counted["pincite_cache_answers_total", "docs"] == 2


def test_one_line_a_request_and_nothing_private_in_it(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    secrets = ("whispered", "u-secret", PARIS, "s-cret", secret_of("one"), "deadbeef")
    ids = id_headers(owner("u-secret"))
    with http_server(home.settings) as server, server.client() as client:
        answers = [
            client.post("/v1/lookup", json={"query": "whispered"}, headers=ids),
            client.get(cite_path(PARIS), params={"sha256": "deadbeef"}),
            client.post("/v1/memory", json={"items": [{**owner("u-secret"), "text": "whispered"}]}),
            client.get("/whispered?s-cret", headers=bearer("one")),
            client.post("/v1/lookup", content=b'{"whispered', headers=JSON),
            client.get("/healthz", headers={"host": "whispered"}),
        ]
    lines = [one for one in caplog.records if getattr(one, "action", "") == "request"]
    fields = [(line.method, line.route, line.status) for line in lines]  # type: ignore[attr-defined]
    assert fields == [
        ("POST", "/v1/lookup", 200),
        ("GET", "/v1/cite/{key}", 404),
        ("POST", "/v1/memory", 200),
        ("GET", "-", 404),
        ("POST", "/v1/lookup", 400),
        ("GET", "-", 421),
    ]
    for line, answer in zip(lines, answers, strict=True):
        assert line.trace_id == answer.headers["x-trace-id"]  # type: ignore[attr-defined]
        assert line.latency_ms >= 0  # type: ignore[attr-defined]
        assert line.message.startswith("action=request method=")
    told = [one.getMessage() for one in caplog.records if one.name.startswith(("pincite", "uvic"))]
    assert [word for word in secrets if any(word in line for line in told)] == []


def test_the_log_names_who_asked(
    tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pincite.serve")
    home = filled_home(tmp_path_factory.mktemp("named"), **{"serve.tokens": [token("one")]})
    with http_server(home.settings) as server, server.client() as client:
        client.post("/v1/lookup", json={"query": "x"}, headers=bearer("one"))
        client.post("/v1/lookup", json={"query": "x"}, headers=bearer("two"))
    lines = [one for one in caplog.records if getattr(one, "action", "") == "request"]
    assert [line.principal for line in lines] == ["one", "-"]  # type: ignore[attr-defined]
