"""Clients that ask a server over HTTP, each as quickly as it answers, and what they saw."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

CALL_TIMEOUT_S = 30.0
QUERY_WORDS = 8
REMEMBERED_KEYS = 64
OWNERS = tuple(
    {"userId": f"u-{number}", "assistantId": "a-1", "conversationId": "c-1"} for number in range(4)
)
WRITES_EVERY_S = 1.0


@dataclass
class Seen:
    """What the clients saw: latencies in ms by kind, and whatever was no good answer."""

    latencies: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    degradations: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def requests(self) -> int:
        return sum(map(len, self.latencies.values()))

    def every(self) -> list[float]:
        """All latencies."""
        return [one for values in self.latencies.values() for one in values]


@dataclass
class Asker:
    """One client: it draws what it asks next from its own random numbers."""

    client: httpx.AsyncClient
    sentences: Sequence[str]
    seen: Seen
    chooser: random.Random
    keys: list[tuple[str, str]] = field(default_factory=list)

    async def run(self, until: float) -> None:
        """Ask until the time, on the clock of ``time.monotonic``."""
        kinds: dict[Callable[[], Awaitable[Any]], int] = {
            self._docs: 55,
            self._again: 15,
            self._memory: 15,
            self._both: 5,
            self._cite: 10,
        }
        while time.monotonic() < until:
            (ask,) = self.chooser.choices(list(kinds), list(kinds.values()))
            await ask()

    async def _docs(self) -> None:
        await self._lookup("lookup", self._query(), returnN=self.chooser.choice((3, 5, 8)))

    async def _again(self) -> None:
        await self._lookup("lookup, asked before", self.sentences[self.chooser.randrange(5)])

    async def _memory(self) -> None:
        owner = self.chooser.choice(OWNERS)
        await self._lookup("lookup in memory", "What is preferred?", corpus="memory", **owner)

    async def _both(self) -> None:
        owner = self.chooser.choice(OWNERS)
        await self._lookup("lookup in both", self._query(), corpus="docs,memory", **owner)

    async def _cite(self) -> None:
        if not self.keys:
            return
        key, digest = self.chooser.choice(self.keys)
        path = f"/v1/cite/{quote(key, safe='')}"
        await self._timed("cite", self.client.get(path, params={"sha256": digest}))

    async def _lookup(self, kind: str, query: str, **body: Any) -> None:
        call = self.client.post("/v1/lookup", json={"query": query, **body})
        found = await self._timed(kind, call)
        if found is None:
            return
        trace = found["retrievalTrace"]
        self.seen.degradations.update({one["code"] for one in trace["degradations"]})
        docs = [one for one in found["results"] if one["corpus"] == "docs"]
        self.keys += [(one["document_id"], one["content_sha256"]) for one in docs]
        del self.keys[:-REMEMBERED_KEYS]

    async def _timed(self, kind: str, call: Awaitable[httpx.Response]) -> Any:
        return await timed(kind, call, self.seen)

    def _query(self) -> str:
        words = self.chooser.choice(self.sentences).split()
        start = self.chooser.randrange(max(1, len(words) - QUERY_WORDS))
        return " ".join(words[start : start + QUERY_WORDS])


async def timed(kind: str, call: Awaitable[httpx.Response], seen: Seen) -> Any:
    """The JSON of a good answer, else ``None``; either way it is written down."""
    started = time.perf_counter()
    try:
        answer = await call
    except httpx.HTTPError as error:
        seen.errors[f"{kind}: {type(error).__name__}"] += 1
        return None
    if answer.status_code != 200:
        seen.errors[f"{kind}: {answer.status_code} {_code(answer)}"] += 1
        return None
    latency_ms = (time.perf_counter() - started) * 1000
    seen.latencies.setdefault(kind, []).append(latency_ms)
    return answer.json()


def _code(answer: httpx.Response) -> str:
    try:
        return str(answer.json().get("code"))
    except ValueError:
        return "no JSON"


async def write_now_and_then(client: httpx.AsyncClient, seen: Seen, until: float) -> None:
    """One new item of memory a second, so that no cache lives for ever."""
    number = 0
    while time.monotonic() < until:
        owner = OWNERS[number % len(OWNERS)]
        await timed("write", client.post("/v1/memory", json=memory(owner, number)), seen)
        number += 1
        await asyncio.sleep(WRITES_EVERY_S)


def memory(owner: dict[str, str], number: int) -> dict[str, Any]:
    """The body that remembers one thing."""
    ids = {"user_id": "userId", "assistant_id": "assistantId", "conversation_id": "conversationId"}
    scope = {name: owner[key] for name, key in ids.items()}
    return {"items": [{**scope, "id": f"m-{number}", "text": f"Preferred is number {number}."}]}


def sentences_of(folder: Path) -> list[str]:
    """The sentences of the corpus, in order."""
    texts = [file.read_text("utf-8") for file in sorted(folder.glob("*.md"))]
    return [
        sentence
        for text in texts
        for line in text.splitlines()
        if not line.startswith("#")
        for sentence in line.split(". ")
        if sentence
    ]


async def load(url: str, sentences: Sequence[str], clients: int, seconds: float) -> Seen:
    """Let so many clients ask for so long."""
    seen = Seen()
    limits = httpx.Limits(max_connections=clients + 1, max_keepalive_connections=clients + 1)
    async with httpx.AsyncClient(
        base_url=url, timeout=CALL_TIMEOUT_S, limits=limits, trust_env=False
    ) as client:
        started = time.monotonic()
        until = started + seconds
        askers = [Asker(client, sentences, seen, random.Random(n)) for n in range(clients)]
        work = [asker.run(until) for asker in askers]
        await asyncio.gather(*work, write_now_and_then(client, seen, until))
        seen.seconds = time.monotonic() - started
    return seen
