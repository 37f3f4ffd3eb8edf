"""Many clients at once over HTTP on the real Milvus server: no error, and nobody sees another's."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from pymilvus import MilvusClient

from pincite.testing.homes import Home
from pincite.testing.http_kit import EVERYTHING, bearer, owner, token
from pincite.testing.http_server import ThreadServer, http_server

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SECONDS = 5.0
CLIENTS = 16
TENANTS = 8
AT_ONCE = 200
# What the old server of the tests cannot do is a degradation of every hybrid lookup.
EXPECTED = {"hybrid_unsupported"}
# A machine that is busy with other things may be late with a line of the lookup log.
TOLERATED = {"lookup_not_recorded"}


@pytest.fixture(scope="module")
def soak() -> Iterator[ModuleType]:
    """The benchmark, which finds the files beside it through the path alone."""
    before = set(sys.modules)
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("soak")
    finally:
        sys.path.remove(str(BENCHMARKS))
        for name in {file.stem for file in BENCHMARKS.glob("*.py")} & (set(sys.modules) - before):
            del sys.modules[name]


def new_database(uri: str, name: str) -> str:
    client = MilvusClient(uri)
    client.create_database(name)
    client.close()
    return name


def test_a_soak_has_no_error(soak: ModuleType, tmp_path: Path, milvus_server_uri: str) -> None:
    chunks, seen = soak.soak(
        tmp_path,
        milvus_server_uri,
        chunks=400,
        clients=CLIENTS,
        seconds=SECONDS,
        database=new_database(milvus_server_uri, "soak"),
    )
    assert seen.errors == {}
    assert set(seen.degradations) - TOLERATED == EXPECTED
    assert seen.requests > CLIENTS
    assert {"lookup", "lookup in memory", "cite", "write"} <= set(seen.latencies)
    assert f"{chunks:,} chunks" in soak.report(chunks, CLIENTS, seen)


def name_of(number: int) -> str:
    return f"tenant-{number}"


@pytest.fixture(scope="module")
def tenants(
    tmp_path_factory: pytest.TempPathFactory, milvus_server_uri: str
) -> Iterator[ThreadServer]:
    """A server on the real store, with a token for each tenant."""
    names = [name_of(number) for number in range(TENANTS)]
    home = Home(
        tmp_path_factory.mktemp("tenants"),
        **{
            "store.uri": milvus_server_uri,
            "store.database": new_database(milvus_server_uri, "tenants"),
            "serve.tokens": [token(name, **EVERYTHING, **owner(name)) for name in names],
            "serve.requests-per-minute": 1_000_000,
            "serve.concurrency": AT_ONCE,
        },
    )
    for name in names:
        home.write("memory", {"text": f"The word of {name} is {word_of(name)}.", **owner(name)})
    with http_server(home.settings) as server:
        yield server


def word_of(name: str) -> str:
    return f"secret{name.rpartition('-')[2]}x"


def test_two_hundred_requests_of_many_tenants_at_once_stay_apart(tenants: ThreadServer) -> None:
    answers = asyncio.run(all_at_once(tenants.url))
    assert len(answers) == AT_ONCE
    for name, kind, answer in answers:
        foreign = [word_of(name_of(n)) for n in range(TENANTS) if name_of(n) != name]
        assert [word for word in foreign if word in answer.text] == []
        assert answer.status_code in (200, 202), answer.text
        if kind == "lookup":
            excerpts = [one["excerpt"] for one in answer.json()["results"]]
            assert f"The word of {name} is {word_of(name)}." in excerpts


async def all_at_once(url: str) -> list[tuple[str, str, httpx.Response]]:
    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(
        base_url=url, timeout=120, trust_env=False, limits=limits
    ) as client:
        return await asyncio.gather(*(one(client, number) for number in range(AT_ONCE)))


async def one(client: httpx.AsyncClient, number: int) -> tuple[str, str, httpx.Response]:
    """A lookup, or every fourth time a write, of one of the tenants."""
    name = name_of(number % TENANTS)
    kind = "write" if (number // TENANTS) % 4 == 0 else "lookup"
    text = f"What is the word number {number}?"
    body: dict[str, Any] = {"query": text, "corpus": "memory"}
    path = "/v1/lookup"
    if kind == "write":
        body, path = {"items": [{"text": f"{name} said {word_of(name)} {number}."}]}, "/v1/memory"
    return name, kind, await client.post(path, json=body, headers=bearer(name))
