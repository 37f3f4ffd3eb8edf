"""The real Milvus server is killed under a serving process, and comes back. Runs last."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
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
IN_A_ROW = 5
BACK_S = 120.0
PAUSE_S = 0.05
OUT_S = 3.0
# What the old server of the tests cannot do, and what a busy machine may be late with.
TOLERATED = {"hybrid_unsupported", "lookup_not_recorded"}
ALICE = {"userId": "alice", "assistantId": "a-1", "conversationId": "c-1"}


class Answered(NamedTuple):
    """What a client saw, when it asked and when it was answered."""

    at: float
    ended: float
    corpus: str
    status: int
    document: dict[str, Any]


@pytest.fixture(scope="module")
def milvus_outage(shared_milvus_server: MilvusServer) -> Iterator[MilvusServer]:
    """The shared server, which runs again after the test, whatever happens in it."""
    yield shared_milvus_server
    if not shared_milvus_server.is_running:
        shared_milvus_server.start()


@pytest.fixture(scope="module")
def serving(
    tmp_path_factory: pytest.TempPathFactory, milvus_outage: MilvusServer
) -> Iterator[ProcessServer]:
    """`pincite serve` on the server, with something in two corpora."""
    folder = tmp_path_factory.mktemp("outage")
    client = MilvusClient(milvus_outage.uri)
    client.create_database(DATABASE)
    client.close()
    store = {"store.uri": milvus_outage.uri, "store.database": DATABASE}
    home = Home(folder, **store)
    notes = folder / "notes"
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
    with http_process(folder, given) as server:
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
        """What was asked and answered in this time."""
        return [one for one in self.answers if start <= one.at and one.ended < end]

    def _ask(self, corpus: str, body: dict[str, str]) -> None:
        with self._server.client() as client:
            while not self._stop.wait(PAUSE_S):
                query = f"France sea number {next(self._numbers)}"
                at = time.monotonic()
                answer = client.post("/v1/lookup", json={"query": query, **body})
                document = json.loads(answer.content)
                ended = time.monotonic()
                self.answers.append(Answered(at, ended, corpus, answer.status_code, document))


@dataclass(frozen=True)
class Outage:
    """What was seen before, during and after; the rest is what single calls gave meanwhile."""

    every: list[Answered]
    before: list[Answered]
    during: list[Answered]
    after: list[Answered]
    calls: dict[str, httpx.Response]
    status: int | None

    def of(self, corpus: str) -> list[Answered]:
        """What was asked of one corpus while the store was away."""
        return [one for one in self.during if one.corpus == corpus]


@pytest.fixture(scope="module")
def outage(serving: ProcessServer, milvus_outage: MilvusServer) -> Outage:
    """The store is killed under clients that go on asking, and starts again."""
    calls: dict[str, httpx.Response] = {}
    with serving.client() as client, Asking(serving) as asking:
        time.sleep(1)
        killed = time.monotonic()
        milvus_outage.kill()
        out = time.monotonic()
        time.sleep(OUT_S)
        calls.update(while_away(client))
        back = time.monotonic()
        milvus_outage.start()
        until_ready(client)
        whole = until_whole(client)
        time.sleep(1)
        calls.update(once_back(client))
    return Outage(
        asking.answers,
        asking.between(0, killed),
        asking.between(out, back),
        asking.between(whole, float("inf")),
        calls,
        serving.process.poll(),
    )


def while_away(client: httpx.Client) -> dict[str, httpx.Response]:
    bobs = {"items": [{**owner("bob"), "text": "Bob sails."}]}
    return {
        "readyz": client.get("/readyz"),
        "healthz": client.get("/healthz"),
        "write": client.post("/v1/memory", json=bobs),
        "cite": client.get(cite_path(PARIS)),
    }


def once_back(client: httpx.Client) -> dict[str, httpx.Response]:
    alices = {"items": [{**owner("alice"), "text": "She swims."}]}
    ids = {"userId": "bob", "assistantId": "a-1", "conversationId": "c-1"}
    return {
        "next write": client.post("/v1/memory", json=alices),
        "bobs": client.post("/v1/lookup", json={"query": "sails", "corpus": "memory", **ids}),
    }


def until_ready(client: httpx.Client) -> None:
    """Until the server is ready again."""
    deadline = time.monotonic() + BACK_S
    while time.monotonic() < deadline:
        if client.get("/readyz").status_code == 200:
            return
        time.sleep(0.2)
    raise AssertionError(f"the server was not ready {BACK_S:.0f} s after the store came back")


def until_whole(client: httpx.Client) -> float:
    """When documents are found again several times over, on the monotonic clock.

    A store that has just begun to answer may refuse a search once more.
    """
    deadline, good = time.monotonic() + BACK_S, 0
    while time.monotonic() < deadline:
        good = good + 1 if _finds(client, good) else 0
        if good == IN_A_ROW:
            return time.monotonic()
        time.sleep(0.2)
    raise AssertionError(f"documents were not found {BACK_S:.0f} s after the store came back")


def _finds(client: httpx.Client, number: int) -> bool:
    asked = {"query": f"France, asked again {number} {time.monotonic()}"}
    return client.post("/v1/lookup", json=asked).status_code == 200


def codes(one: Answered) -> set[str]:
    return {found["code"] for found in one.document["retrievalTrace"]["degradations"]}


def excerpts(answered: dict[str, Any]) -> list[str]:
    return [result["excerpt"] for result in answered["results"]]


def test_no_answer_is_anything_but_good_or_a_coded_503(outage: Outage) -> None:
    assert {one.status for one in outage.every} == {200, 503}
    refused = [one.document["code"] for one in outage.every if one.status == 503]
    assert set(refused) == {"STORE_UNREACHABLE"}


@pytest.mark.parametrize("corpus", ["docs", "memory"])
@pytest.mark.parametrize("part", ["before", "during", "after"])
def test_there_was_something_to_see(outage: Outage, part: str, corpus: str) -> None:
    assert [one for one in getattr(outage, part) if one.corpus == corpus]


def test_documents_have_no_other_path(outage: Outage) -> None:
    assert {one.status for one in outage.of("docs")} == {503}


def test_memory_is_answered_by_the_legacy_path(outage: Outage) -> None:
    found = outage.of("memory")
    assert {one.status for one in found} == {200}
    assert all("store_unreachable" in codes(one) for one in found)
    assert all(excerpts(one.document) == ["Alice likes the sea."] for one in found)


def test_before_and_after_nothing_is_missing(outage: Outage) -> None:
    whole = [*outage.before, *outage.after]
    assert {one.status for one in whole} == {200}
    assert all(codes(one) <= TOLERATED for one in whole)
    docs = [one for one in whole if one.corpus == "docs"]
    assert all(excerpts(one.document)[0] == PARIS_TEXT for one in docs)


def test_readiness_names_the_store_and_the_process_lives(outage: Outage) -> None:
    assert outage.calls["readyz"].status_code == 503
    parts = outage.calls["readyz"].json()["parts"]
    assert parts == {"catalog": "ok", "store": "STORE_UNREACHABLE"}
    assert outage.calls["healthz"].status_code == 200
    assert outage.status is None


def test_citations_need_no_store(outage: Outage) -> None:
    assert outage.calls["cite"].json()["text"] == PARIS_TEXT


def test_what_was_written_meanwhile_waits_and_is_taken_along(outage: Outage) -> None:
    waiting = outage.calls["write"]
    assert (waiting.status_code, waiting.json()["counts"]["pending"]) == (202, 1)
    assert outage.calls["next write"].json()["counts"]["indexed"] == 1
    assert excerpts(outage.calls["bobs"].json()) == ["Bob sails."]


def test_the_shared_server_is_there_for_the_next_one(milvus_outage: MilvusServer) -> None:
    client = MilvusClient(milvus_outage.uri)
    assert client.get_server_version()
    client.close()
