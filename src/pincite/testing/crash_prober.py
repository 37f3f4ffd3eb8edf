"""Asks the store all the time for documents that must stay searchable."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType

from pincite.embedding.hash import HashEmbedder
from pincite.errors import PinciteError
from pincite.identity import text_sha256
from pincite.settings import Settings
from pincite.store.filters import Eq
from pincite.store.milvus import MilvusStore
from pincite.store.port import Hit, VectorQuery

# Between two rounds of questions; more would slow the writers on a small machine.
PAUSE_S = 0.3
POLL_S = 0.02
LIMIT = 32
COLUMNS = ("content", "content_sha256")
# A read that is Bounded may lag behind a write; 200 ms were measured on the real server.
SETTLE_LIMIT_S = 5.0

# Evidence key and digest of its text.
Text = tuple[str, str]
Allowed = Mapping[str, frozenset[Text]]


@dataclass
class Findings:
    """What the prober has seen; seconds.

    ``longest_gap_s`` is the longest time between two answers about one document. ``resurfaced``
    counts hits with a text that the store had deleted before.
    """

    questions: int = 0
    resurfaced: int = 0
    longest_gap_s: float = 0.0
    seen: set[Text] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


class Prober:
    """A thread with a store and an event loop of its own; a context manager.

    Args:
        settings: Where the store is.
        collection: What is asked.
        allowed: See ``allow``.
    """

    def __init__(self, settings: Settings, collection: str, allowed: Allowed) -> None:
        self.findings = Findings()
        self._settings = settings
        self._collection = collection
        self._allowed = allowed
        self._past: frozenset[Text] = frozenset()
        self._stop = threading.Event()
        self._answered = dict.fromkeys(allowed, time.monotonic())
        self._round: tuple[float, frozenset[Text]] = (0.0, frozenset())
        self._thread = threading.Thread(target=lambda: asyncio.run(self._ask()), daemon=True)

    def __enter__(self) -> Prober:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def documents(self) -> frozenset[str]:
        """Ids of the documents that are asked for."""
        return frozenset(self._allowed)

    def allow(self, allowed: Allowed, past: frozenset[Text]) -> None:
        """From here on, per document: the texts that it may be found with, always one of them.

        The documents are the same ones all the time. ``past`` are texts that were deleted: while
        a Milvus server loads a segment, a deleted row can come back for one read that is not
        Strong. That is counted, and is no problem as long as it does not last.
        """
        self._allowed, self._past = allowed, past

    def take(self) -> Findings:
        """What was found since the last call."""
        found, self.findings = self.findings, Findings()
        return found

    def asked_anew(self) -> frozenset[Text]:
        """Everything seen since the last ``take``, with a whole round from now on."""
        start = time.monotonic()
        while self._round[0] < start and time.monotonic() - start < SETTLE_LIMIT_S:
            time.sleep(POLL_S)
        return frozenset(self.findings.seen)

    def settles_on(self, expected: frozenset[Text]) -> float | None:
        """Seconds until a whole round shows just these texts; ``None``: not in time."""
        start = time.monotonic()
        while time.monotonic() - start < SETTLE_LIMIT_S:
            asked, texts = self._round
            if asked >= start and texts == expected:
                return asked - start
            time.sleep(POLL_S)
        return None

    async def _ask(self) -> None:
        given = self._settings.store
        store = MilvusStore(given.uri, database=given.database)
        vector = HashEmbedder().vectors(["any question will do"])[0]
        self._answered = dict.fromkeys(self._allowed, time.monotonic())
        while not self._stop.is_set():
            start = time.monotonic()
            asked = [self._one(store, doc_id, vector.tolist()) for doc_id in self._allowed]
            texts = frozenset(text for found in await asyncio.gather(*asked) for text in found)
            self._round = (start, texts)
            await asyncio.sleep(PAUSE_S)
        await store.close()

    async def _one(self, store: MilvusStore, doc_id: str, vector: Sequence[float]) -> list[Text]:
        query = VectorQuery(vector, LIMIT, Eq("doc_id", doc_id), COLUMNS)
        try:
            hits = await store.search(self._collection, query)
        except PinciteError as error:
            self.findings.problems.append(f"{doc_id}: {error.code}")
            return []
        found = self.findings
        gap = time.monotonic() - self._answered[doc_id]
        self._answered[doc_id] += gap
        found.longest_gap_s = max(found.longest_gap_s, gap)
        found.questions += 1
        found.problems += self._problems(doc_id, hits)
        texts = [(hit.vector_id, str(hit.columns["content_sha256"])) for hit in hits]
        found.seen.update(texts)
        return texts

    def _problems(self, doc_id: str, hits: Sequence[Hit]) -> list[str]:
        problems = [] if hits else [f"{doc_id}: nothing was found"]
        for hit in hits:
            text = (hit.vector_id, str(hit.columns["content_sha256"]))
            if text in self._past and text not in self._allowed[doc_id]:
                self.findings.resurfaced += 1
            elif text not in self._allowed[doc_id]:
                problems.append(f"{hit.vector_id}: a text of neither version")
            if text_sha256(str(hit.columns["content"])) != text[1]:
                problems.append(f"{hit.vector_id}: text and digest differ")
        if len({hit.vector_id for hit in hits}) != len(hits):
            problems.append(f"{doc_id}: a key was found twice")
        return problems
