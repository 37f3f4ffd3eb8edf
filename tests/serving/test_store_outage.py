"""The real Milvus server is killed under a serving process, and comes back. Runs last."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from pymilvus import MilvusClient

from pincite.testing.homes import Home
from pincite.testing.http_kit import PARIS, PARIS_TEXT, cite_path, owner
from pincite.testing.http_server import ProcessServer, http_process
from pincite.testing.milvus_server import MilvusServer

DATABASE = "outage"
# A server that was killed waits for the leases of its former self.
BACK_S = 120.0
PAUSE_S = 0.05
OUT_S = 3.0
ALICE = {"userId": "alice", "assistantId": "a-1", "conversationId": "c-1"}


class Answered(NamedTuple):
    """What a client saw, and when it had asked."""

    at: float
    corpus: str
    status: int
    document: dict[str, Any]


@pytest.fixture
def milvus_outage(shared_milvus_server: MilvusServer) -> Iterator[MilvusServer]:
    """The shared server, which runs again after the test, whatever happens in it."""
    yield shared_milvus_server
    if not shared_milvus_server.is_running:
        shared_milvus_server.start()


@pytest.fixture
def serving(tmp_path: Path, milvus_outage: MilvusServer) -> Iterator[ProcessServer]:
    """`pincite serve` on the server, with something in two corpora."""
    client = MilvusClient(milvus_outage.uri)
    client.create_database(DATABASE)
    client.close()
    store = {"store.uri": milvus_outage.uri, "store.database": DATABASE}
    home = Home(tmp_path, **store)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "paris.md").write_text(PARIS_TEXT + "\n", "utf-8")
    home.ingest(notes)
    home.write("memory", {**owner("alice"), "text": "Alice likes the sea."})
    given = {
        "PINCITE_HOME": str(home.settings.home),
        "PINCITE_EMBEDDER__PROVIDER": "hash",
        "PINCITE_STORE__URI": milvus_outage.uri,
        "PINCITE_STORE__DATABASE": DATABASE,
        "PINCITE_SERVE__REQUESTS_PER_MINUTE": "1000000",
    }
    with http_process(tmp_path, given) as server:
        yield server


class Asking:
    """Clients that go on asking, a new question each time, so that no cache answers."""

    def __init__(self, server: ProcessServer) -> None:
        self._server = server
        self._stop = threading.Event()
        self._numbers = itertools.count()
        self._threads = [
            threading.Thread(target=self._ask, args=(corpus, body))
            for corpus, body in (("docs", {}), ("memory", {"corpus": "memory", **ALICE}))
        ]
        self.answers: list[Answered] = []

    def __enter__(self) -> Asking:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def between(self, start: float, end: float) -> list[Answered]:
        """What was asked in this time."""
        return [one for one in self.answers if start <= one.at < end]

    def _ask(self, corpus: str, body: dict[str, str]) -> None:
        with self._server.client() as client:
            while not self._stop.wait(PAUSE_S):
                query = f"France sea number {next(self._numbers)}"
                at = time.monotonic()
                answer = client.post("/v1/lookup", json={"query": query, **body})
                document = json.loads(answer.content)
                self.answers.append(Answered(at, corpus, answer.status_code, document))


def codes(one: Answered) -> set[str]:
    return {found["code"] for found in one.document["retrievalTrace"]["degradations"]}


def excerpts(one: Answered) -> list[str]:
    return [result["excerpt"] for result in one.document["results"]]


def until_ready(client: httpx.Client) -> float:
    """When the server is ready again, on the monotonic clock."""
    deadline = time.monotonic() + BACK_S
    while time.monotonic() < deadline:
        if client.get("/readyz").status_code == 200:
            return time.monotonic()
        time.sleep(0.2)
    raise AssertionError(f"the server was not ready {BACK_S:.0f} s after the store came back")


def test_an_outage_is_told_by_codes_and_ends_by_itself(
    serving: ProcessServer, milvus_outage: MilvusServer
) -> None:
    with serving.client() as client, Asking(serving) as asking:
        time.sleep(1)
        killed = time.monotonic()
        milvus_outage.kill()
        out = time.monotonic()
        time.sleep(OUT_S)
        not_ready = client.get("/readyz")
        written = client.post(
            "/v1/memory", json={"items": [{**owner("bob"), "text": "Bob sails."}]}
        )
        cited = client.get(cite_path(PARIS))
        alive = client.get("/healthz")
        back = time.monotonic()
        milvus_outage.start()
        ready = until_ready(client)
        time.sleep(1)
        own = client.post("/v1/memory", json={"items": [{**owner("alice"), "text": "She swims."}]})
        ids = {"userId": "bob", "assistantId": "a-1", "conversationId": "c-1"}
        bobs = client.post("/v1/lookup", json={"query": "sails", "corpus": "memory", **ids})
    before, after = asking.between(0, killed), asking.between(ready, float("inf"))
    during = asking.between(out, back)

    assert {one.status for one in asking.answers} <= {200, 503}
    for corpus in ("docs", "memory"):
        for part in (before, during, after):
            assert [one for one in part if one.corpus == corpus], corpus
    for one in during:
        if one.status == 503:
            assert one.document["code"] == "STORE_UNREACHABLE"
        else:
            assert "store_unreachable" in codes(one)
    # Memory has another path to answer by, documents have none.
    assert {one.status for one in during if one.corpus == "docs"} == {503}
    memory = [one for one in during if one.corpus == "memory"]
    assert {one.status for one in memory} == {200}
    assert all(excerpts(one) == ["Alice likes the sea."] for one in memory)

    problem_free = [one for one in (*before, *after) if one.status == 200]
    assert len(problem_free) == len(before) + len(after)
    assert all(codes(one) <= {"hybrid_unsupported"} for one in problem_free)
    assert excerpts(next(one for one in after if one.corpus == "docs"))[0] == PARIS_TEXT

    assert (not_ready.status_code, not_ready.json()["parts"]["store"]) == (503, "STORE_UNREACHABLE")
    assert (alive.status_code, cited.json()["text"]) == (200, PARIS_TEXT)
    assert (written.status_code, written.json()["counts"]["pending"]) == (202, 1)
    # The next write takes along what waits.
    assert own.json()["counts"]["indexed"] == 1
    assert [one["excerpt"] for one in bobs.json()["results"]] == ["Bob sails."]
    assert serving.process.poll() is None


def test_the_shared_server_is_there_for_the_next_one(milvus_outage: MilvusServer) -> None:
    client = MilvusClient(milvus_outage.uri)
    assert client.get_server_version()
    client.close()
