"""The routes of the API over real HTTP: what they take, what they give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from pincite.identity import text_sha256
from pincite.serving.answers import Citation, LookupAnswer, Receipt
from pincite.testing.homes import Home
from pincite.testing.http_kit import (
    PARIS,
    PARIS_TEXT,
    cite_path,
    filled_home,
    id_headers,
    owner,
    problem,
)
from pincite.testing.http_server import http_server
from pincite.testing.lookups import lasting

QUESTION = "capital of France"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return filled_home(tmp_path_factory.mktemp("http-api"))


@pytest.fixture(scope="module")
def client(home: Home) -> Iterator[httpx.Client]:
    with http_server(home.settings) as server, server.client() as client:
        yield client


def look(client: httpx.Client, query: str, **body: Any) -> dict[str, Any]:
    answer = client.post("/v1/lookup", json={"query": query, **body})
    assert answer.status_code == 200, answer.text
    return LookupAnswer.model_validate(answer.json()).model_dump(by_alias=True)


def remember(client: httpx.Client, *items: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/memory", json={"items": items}, **more)
    assert answer.status_code == 200, answer.text
    return Receipt.model_validate(answer.json()).model_dump()


def test_lookup_answers_with_the_lookup_result(client: httpx.Client, home: Home) -> None:
    found = look(client, QUESTION)
    assert found["results"][0]["document_id"] == PARIS
    assert found["results"][0]["excerpt"] == PARIS_TEXT
    here = json.loads(home.look(QUESTION).to_json())
    assert list(found) == list(here)
    assert found["results"] == here["results"]
    assert found["context"] == here["context"]


def test_trace_id_of_the_answer_is_the_one_in_the_header(client: httpx.Client) -> None:
    answer = client.post("/v1/lookup", json={"query": QUESTION})
    assert answer.json()["traceId"] == answer.headers["x-trace-id"]
    assert len(answer.headers["x-trace-id"]) == 32


@pytest.mark.parametrize("spelling", ["returnN", "return_n"])
def test_options_are_read_in_both_spellings(client: httpx.Client, spelling: str) -> None:
    found = look(client, "água Paris", **{spelling: 1})
    assert len(found["results"]) == 1


def test_one_option_in_both_spellings_is_refused(client: httpx.Client) -> None:
    body = {"query": QUESTION, "returnN": 1, "return_n": 2}
    problem(client.post("/v1/lookup", json=body), 422, "REQUEST_INVALID")


def test_every_option_reaches_the_lookup(client: httpx.Client) -> None:
    found = look(
        client,
        QUESTION,
        corpus="docs",
        kbScope="nowhere",
        category="cities",
        retrieveK=3,
        returnN=2,
        mode="dense",
        threshold=0.0,
    )
    assert (found["kbScope"], found["results"]) == ("nowhere", [])
    assert {one["mode"] for one in found["retrievalTrace"]["attempts"]} == {"dense"}
    assert "nowhere" in found["retrievalTrace"]["attempts"][0]["filter"]


def test_cite_gives_the_exact_text(client: httpx.Client) -> None:
    answer = client.get(cite_path(PARIS), params={"sha256": text_sha256(PARIS_TEXT)})
    found = Citation.model_validate(answer.json())
    assert (answer.status_code, found.text, found.state) == (200, PARIS_TEXT, "current")


def test_cite_reads_keys_that_are_not_ascii(client: httpx.Client) -> None:
    (hit,) = look(client, "água", mode="lexical")["results"]
    found = client.get(cite_path(hit["document_id"]), params={"corpus": "docs"}).json()
    assert (
        found["text"] == hit["excerpt"] == "# Água 水\n\n水在一百度沸腾。A água ferve a 100 °C. 🫖"
    )


@pytest.mark.parametrize("key", ["a\nb#chunk-0", "..#chunk-0", "a//b", "%2F", "\0", "'; --", "😀"])
def test_cite_of_any_unknown_key_is_not_found(client: httpx.Client, key: str) -> None:
    problem(client.get(cite_path(key)), 404, "EVIDENCE_NOT_FOUND")


def test_cite_in_another_scope_is_not_found(client: httpx.Client) -> None:
    answer = client.get(cite_path(PARIS), params={"kb_scope": "other"})
    problem(answer, 404, "EVIDENCE_NOT_FOUND")


def test_cite_refuses_a_parameter_that_it_does_not_know(client: httpx.Client) -> None:
    answer = client.get(cite_path(PARIS), params={"kb-scope": "other"})
    problem(answer, 422, "REQUEST_INVALID")


def test_memory_is_found_by_its_writer_at_once(client: httpx.Client) -> None:
    receipt = remember(client, {**owner("u-7"), "text": "Likes window seats."})
    assert receipt["counts"] == {"indexed": 1, "pending": 0, "failed": 0, "expired": 0}
    ids = {"userId": "u-7", "assistantId": "a-1", "conversationId": "c-1"}
    (hit,) = look(client, "seats", corpus="memory", **ids)["results"]
    assert hit["excerpt"] == "Likes window seats."
    key = cite_path(hit["document_id"])
    assert client.get(key, headers=id_headers(owner("u-7"))).json()["text"] == hit["excerpt"]
    problem(client.get(key, headers=id_headers(owner("u-8"))), 404, "EVIDENCE_NOT_FOUND")
    problem(client.get(key), 404, "EVIDENCE_NOT_FOUND")


def test_ids_may_come_in_headers(client: httpx.Client) -> None:
    headers = id_headers(owner("u-9"))
    remember(client, {"text": "Speaks Portuguese."}, headers=headers)
    body = {"query": "Portuguese", "corpus": "memory"}
    answer = client.post("/v1/lookup", json=body, headers=headers)
    assert [one["excerpt"] for one in answer.json()["results"]] == ["Speaks Portuguese."]


def test_ids_in_body_and_header_must_agree(client: httpx.Client) -> None:
    body = {"query": "x", "corpus": "memory", "userId": "u-1"}
    answer = client.post("/v1/lookup", json=body, headers=id_headers(owner("u-2")))
    problem(answer, 422, "REQUEST_INVALID")
    assert "u-2" not in answer.text


def test_an_item_that_has_expired_is_done_with(client: httpx.Client) -> None:
    item = {**owner("u-1"), "text": "Gone.", "ttl_at": "2001-01-01T00:00:00Z"}
    assert remember(client, item)["counts"]["expired"] == 1


def test_missing_scope_is_named(client: httpx.Client) -> None:
    answer = client.post("/v1/lookup", json={"query": "x", "corpus": "memory"})
    assert "'user_id'" in problem(answer, 422, "SCOPE_REQUIRED")["detail"]


@pytest.mark.parametrize("value", ["", " ", "x" * 500])
def test_blank_and_long_ids_are_refused(client: httpx.Client, value: str) -> None:
    ids = {"userId": value, "assistantId": "a", "conversationId": "c"}
    answer = client.post("/v1/lookup", json={"query": "x", "corpus": "memory", **ids})
    problem(answer, 422, "SCOPE_INVALID")


@pytest.mark.parametrize("scope", [" ", "x" * 500])
def test_a_scope_to_write_under_is_checked(client: httpx.Client, scope: str) -> None:
    body = {"items": [{**owner("u-1"), "text": "x"}], "kbScope": scope}
    problem(client.post("/v1/memory", json=body), 422, "SCOPE_INVALID")


@pytest.mark.parametrize("count", [0, 101])
def test_a_write_has_one_item_to_a_hundred(client: httpx.Client, count: int) -> None:
    body = {"items": [{**owner("u-1"), "text": f"{n}"} for n in range(count)]}
    problem(client.post("/v1/memory", json=body), 422, "REQUEST_INVALID")


def test_a_wrong_item_is_told_without_its_text(client: httpx.Client) -> None:
    body = {"items": [{**owner("u-1"), "text": "very private", "confidence": 7}]}
    answer = client.post("/v1/memory", json=body)
    assert "confidence" in problem(answer, 422, "ITEM_INVALID")["detail"]
    assert "very private" not in answer.text


def test_web_results_are_found_in_their_session(client: httpx.Client) -> None:
    result = {
        "session_id": "s-7",
        "query_id": "q-7",
        "url": "https://example.org/rust?utm_source=x",
        "title": "Rust on iron",
        "snippet": "Iron turns into rust in water and air.",
        "source_rank": 1,
    }
    answer = client.post("/v1/web", json={"results": [result]})
    assert answer.status_code == 200, answer.text
    assert Receipt.model_validate(answer.json()).counts.indexed == 1
    (hit,) = look(client, "rust", corpus="web", sessionId="s-7")["results"]
    assert hit["source"] == "https://example.org/rust"
    assert look(client, "rust", corpus="web", sessionId="s-8")["results"] == []


def document(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/openapi.json").json()
    return found


def test_openapi_describes_every_route(client: httpx.Client) -> None:
    paths = document(client)["paths"]
    assert {path: sorted(methods) for path, methods in paths.items()} == {
        "/healthz": ["get"],
        "/readyz": ["get"],
        "/metrics": ["get"],
        "/v1/lookup": ["post"],
        "/v1/cite/{key}": ["get"],
        "/v1/memory": ["post"],
        "/v1/web": ["post"],
    }


BODIES = {"/v1/lookup": "LookupBody", "/v1/memory": "MemoryBody", "/v1/web": "WebBody"}


@pytest.mark.parametrize("path", BODIES)
def test_every_example_of_openapi_works(client: httpx.Client, path: str) -> None:
    whole = document(client)
    schema = whole["components"]["schemas"][BODIES[path]]
    assert schema["examples"]
    rules = Draft202012Validator({**schema, "components": whole["components"]})
    for example in schema["examples"]:
        answer = client.post(path, json=example)
        assert answer.status_code == 200, answer.text
        rules.validate(example)


def test_answers_are_as_openapi_says(client: httpx.Client) -> None:
    whole = document(client)
    answer = whole["paths"]["/v1/lookup"]["post"]["responses"]["200"]
    schema = answer["content"]["application/json"]["schema"]
    rules = Draft202012Validator({**schema, "components": whole["components"]})
    rules.validate(client.post("/v1/lookup", json={"query": QUESTION}).json())


def test_two_same_lookups_answer_alike(client: httpx.Client, home: Home) -> None:
    first, second = look(client, "água"), look(client, "água")
    assert first["traceId"] != second["traceId"]
    assert lasting(home.look("água"))["results"] == first["results"] == second["results"]
