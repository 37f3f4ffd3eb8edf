"""Who may do what over HTTP, and that nobody sees or writes what is another's."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pincite.testing.homes import Home
from pincite.testing.http_kit import (
    EVERYTHING,
    PARIS,
    PARIS_TEXT,
    bearer,
    cite_path,
    filled_home,
    id_headers,
    owner,
    problem,
    secret_of,
    token,
)
from pincite.testing.http_server import http_server

TOKENS = [
    token("reader"),
    token("writer", **EVERYTHING),
    token("alice", **EVERYTHING, **owner("alice")),
    token("bob", **EVERYTHING, **owner("bob")),
    token("session", **EVERYTHING, session_id="s-alice"),
    token("half", **EVERYTHING, user_id="alice"),
    token("evaluation", **EVERYTHING, kb_scope="rag-eval"),
    token("deaf", corpora=["memory"], rights=["write"]),
]
BOBS = "Bob keeps his spare key under the blue pot."
PRIVATE = ("spare key", "blue pot", "bob")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    limits = {"serve.tokens": TOKENS, "serve.requests-per-minute": 1_000_000}
    home = filled_home(tmp_path_factory.mktemp("http-access"), **limits)
    home.write("memory", {**owner("bob"), "id": "m-1", "text": BOBS})
    home.write("memory", {**owner("alice"), "id": "m-1", "text": "Alice likes the sea."})
    return home


@pytest.fixture(scope="module")
def client(home: Home) -> Iterator[httpx.Client]:
    with http_server(home.settings) as server, server.client() as client:
        yield client


@pytest.fixture(scope="module")
def bobs(client: httpx.Client) -> str:
    """The evidence key of what Bob remembers."""
    found = look(client, "bob", "spare key", corpus="memory")
    (hit,) = found.json()["results"]
    assert hit["excerpt"] == BOBS
    return str(hit["document_id"])


def look(client: httpx.Client, who: str, query: str, **body: Any) -> httpx.Response:
    return client.post("/v1/lookup", json={"query": query, **body}, headers=bearer(who))


def remember(client: httpx.Client, who: str, *items: dict[str, Any]) -> httpx.Response:
    return client.post("/v1/memory", json={"items": items}, headers=bearer(who))


def says_nothing(answer: httpx.Response) -> None:
    """Nothing of Bob's is in the answer."""
    told = (answer.text + str(dict(answer.headers))).lower()
    assert [word for word in PRIVATE if word in told] == []


ROUTES = [
    ("POST", "/v1/lookup"),
    ("POST", "/v1/memory"),
    ("POST", "/v1/web"),
    ("GET", cite_path(PARIS)),
    ("GET", "/metrics"),
    ("POST", "/mcp"),
    ("GET", "/v1/anything"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": f"Bearer {secret_of('reader')}x"},
        {"authorization": f"Bearer {secret_of('reader')[:-1]}"},
        {"authorization": secret_of("reader")},
        {"authorization": f"Token {secret_of('reader')}"},
        {"authorization": f"Bearer {secret_of('READER')}"},
        {"x-pincite-user-id": "alice"},
        {"cookie": f"token={secret_of('reader')}"},
    ],
    ids=str,
)
def test_without_a_known_token_nothing_opens(
    client: httpx.Client, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = client.request(method, path, headers=headers)
    problem(answer, 401, "TOKEN_REQUIRED")
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert secret_of("reader")[:-1] not in answer.text


def test_a_body_is_not_looked_at_before_the_token(client: httpx.Client) -> None:
    problem(client.post("/v1/lookup", content=b"{"), 401, "TOKEN_REQUIRED")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_known_token_opens(client: httpx.Client, scheme: str) -> None:
    headers = {"authorization": f"{scheme} {secret_of('reader')}"}
    answer = client.post("/v1/lookup", json={"query": "France"}, headers=headers)
    assert answer.json()["results"][0]["excerpt"] == PARIS_TEXT


def test_a_browser_may_send_the_token_as_a_password(client: httpx.Client) -> None:
    word = base64.b64encode(f"anyone:{secret_of('reader')}".encode()).decode()
    answer = client.get(cite_path(PARIS), headers={"authorization": f"Basic {word}"})
    assert answer.json()["text"] == PARIS_TEXT


def test_a_token_opens_its_corpora_only(client: httpx.Client) -> None:
    ids = {"userId": "alice", "assistantId": "a-1", "conversationId": "c-1"}
    for corpus in ("memory", "docs,memory", "web"):
        answer = look(client, "reader", "sea", corpus=corpus, sessionId="s-1", **ids)
        problem(answer, 403, "ACCESS_DENIED")
    answer = client.get(cite_path(PARIS), params={"corpus": "memory"}, headers=bearer("reader"))
    problem(answer, 403, "ACCESS_DENIED")


def test_a_token_gives_its_rights_only(client: httpx.Client) -> None:
    problem(remember(client, "reader", {**owner("x"), "text": "x"}), 403, "ACCESS_DENIED")
    ids = {"userId": "x", "assistantId": "a-1", "conversationId": "c-1"}
    problem(look(client, "deaf", "x", corpus="memory", **ids), 403, "ACCESS_DENIED")
    problem(client.get(cite_path(PARIS), headers=bearer("deaf")), 403, "ACCESS_DENIED")


def test_a_bound_token_needs_no_ids(client: httpx.Client) -> None:
    (hit,) = look(client, "alice", "sea", corpus="memory").json()["results"]
    assert hit["excerpt"] == "Alice likes the sea."
    receipt = remember(client, "alice", {"text": "Alice is on a diet."}).json()
    assert receipt["counts"]["indexed"] == 1


@pytest.mark.parametrize("name", ["userId", "user_id", "assistantId", "conversation_id"])
def test_a_bound_token_asks_for_nobody_else(client: httpx.Client, name: str) -> None:
    answer = look(client, "alice", "spare key", corpus="memory", **{name: "bob"})
    problem(answer, 403, "ACCESS_DENIED")
    says_nothing(answer)


def test_headers_do_not_unbind_a_token(client: httpx.Client, bobs: str) -> None:
    headers = {**bearer("alice"), **id_headers(owner("bob"))}
    body = {"query": "spare key", "corpus": "memory"}
    problem(client.post("/v1/lookup", json=body, headers=headers), 403, "ACCESS_DENIED")
    problem(client.get(cite_path(bobs), headers=headers), 403, "ACCESS_DENIED")
    item = {"text": "Bob is rude."}
    written = client.post("/v1/memory", json={"items": [item]}, headers=headers)
    problem(written, 403, "ACCESS_DENIED")


def test_a_bound_token_writes_for_nobody_else(client: httpx.Client) -> None:
    for item in ({**owner("bob"), "text": "x"}, {"user_id": "bob", "text": "x"}):
        says_nothing(answer := remember(client, "alice", {"text": "fine"}, item))
        problem(answer, 403, "ACCESS_DENIED")
    found = look(client, "bob", "x fine rude", corpus="memory").json()["results"]
    assert [one["excerpt"] for one in found] == [BOBS]


def test_the_same_id_of_two_people_is_two_items(client: httpx.Client, bobs: str) -> None:
    assert remember(client, "alice", {"id": "m-1", "text": "Alice moved."}).status_code == 200
    answer = client.get(cite_path(bobs), headers=bearer("bob"))
    assert (answer.json()["state"], answer.json()["text"]) == ("current", BOBS)


@pytest.mark.parametrize("who", ["alice", "half", "reader", "session", "evaluation", "writer"])
def test_a_foreign_key_is_as_unknown_as_one_that_never_was(
    client: httpx.Client, bobs: str, who: str
) -> None:
    never = bobs[:-1] + "9"
    answers = [client.get(cite_path(key), headers=bearer(who)) for key in (bobs, never)]
    told = [problem(answer, 404, "EVIDENCE_NOT_FOUND")["detail"] for answer in answers]
    assert told[0].replace(bobs, "?") == told[1].replace(never, "?")


def test_a_bound_session_sees_its_results_only(client: httpx.Client) -> None:
    def result(name: str) -> dict[str, Any]:
        return {"url": f"https://example.org/{name}", "title": name, "snippet": f"About {name}."}

    def write(who: str, *results: dict[str, Any]) -> httpx.Response:
        return client.post("/v1/web", json={"results": results}, headers=bearer(who))

    assert write("session", result("mine")).status_code == 200
    assert write("writer", {**result("theirs"), "session_id": "s-bob"}).status_code == 200
    problem(write("session", {**result("x"), "session_id": "s-bob"}), 403, "ACCESS_DENIED")
    found = look(client, "session", "about mine theirs", corpus="web").json()["results"]
    assert [one["title"] for one in found] == ["mine"]
    foreign = look(client, "session", "about", corpus="web", sessionId="s-bob")
    problem(foreign, 403, "ACCESS_DENIED")


def test_a_bound_scope_is_the_only_one(client: httpx.Client) -> None:
    assert look(client, "evaluation", "France").json()["results"] == []
    problem(look(client, "evaluation", "France", kbScope="other"), 403, "ACCESS_DENIED")
    problem(client.get(cite_path(PARIS), headers=bearer("evaluation")), 404, "EVIDENCE_NOT_FOUND")
    answer = client.post(
        "/v1/memory",
        json={"items": [{**owner("x"), "text": "x"}], "kbScope": "other"},
        headers=bearer("evaluation"),
    )
    problem(answer, 403, "ACCESS_DENIED")


SHAPES = (
    "*", "%", "null", "bob", "BOB", " bob", "bob ", "bob\0", "\\", "alice\nbob", "b\u200bob",
    '" or 1==1 or user_id=="', 'bob" || "', "${bob}", "../bob", "true", "0", "[]",
)  # fmt: skip
HOSTILE = st.sampled_from(SHAPES) | st.text(min_size=1, max_size=30)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=HOSTILE, field=st.sampled_from(["userId", "assistantId", "conversationId"]))
def test_no_id_of_any_shape_opens_what_is_bobs(
    client: httpx.Client, value: str, field: str
) -> None:
    ids = {"userId": "alice", "assistantId": "a-1", "conversationId": "c-1", field: value}
    for who in ("writer", "half", "alice"):
        body = {"query": "spare key blue pot", "corpus": "memory", **ids}
        answer = client.post(
            "/v1/lookup",
            content=json.dumps(body),
            headers={**bearer(who), "content-type": "application/json"},
        )
        if (who, field, value) == ("writer", "userId", "bob"):
            continue  # that is Bob's own: an unbound token may name him
        assert answer.status_code in (200, 403, 422)
        assert BOBS not in answer.text


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=HOSTILE, field=st.sampled_from(["user_id", "assistant_id", "conversation_id"]))
def test_no_id_of_any_shape_writes_into_what_is_bobs(
    client: httpx.Client, bobs: str, value: str, field: str
) -> None:
    item = {**owner("alice"), "id": "m-1", "text": "Overwritten.", field: value}
    for who in ("half", "alice"):
        answer = client.post(
            "/v1/memory",
            content=json.dumps({"items": [item]}),
            headers={**bearer(who), "content-type": "application/json"},
        )
        assert answer.status_code in (200, 403, 422), answer.text
    assert client.get(cite_path(bobs), headers=bearer("bob")).json()["text"] == BOBS


def test_headers_in_utf_8_name_the_same_person_as_a_body(client: httpx.Client) -> None:
    assert remember(client, "writer", {**owner("zoë"), "text": "Zoë sails."}).status_code == 200
    headers = [
        (b"authorization", f"Bearer {secret_of('writer')}".encode()),
        *((name.encode(), value.encode()) for name, value in id_headers(owner("zoë")).items()),
    ]
    body = {"query": "sails", "corpus": "memory"}
    answer = client.post("/v1/lookup", json=body, headers=headers)
    assert [one["excerpt"] for one in answer.json()["results"]] == ["Zoë sails."]


def test_the_inspector_asks_a_browser_for_the_token(client: httpx.Client) -> None:
    asked = client.get("/")
    assert asked.status_code == 401
    assert asked.headers["www-authenticate"].startswith("Basic ")
    word = base64.b64encode(f":{secret_of('reader')}".encode()).decode()
    page = client.get("/", headers={"authorization": f"Basic {word}"})
    assert (page.status_code, page.headers["content-type"][:9]) == (200, "text/html")
