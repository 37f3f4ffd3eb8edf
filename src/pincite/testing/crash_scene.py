"""A corpus that is synced to and fro between two versions of its folder and killed on the way."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType

from pincite.settings import Settings
from pincite.settings.model import (
    EmbedderSettings,
    IngestSettings,
    LeaseSettings,
    RagSettings,
    StoreSettings,
)
from pincite.testing.crash_checks import (
    Rows,
    document_of,
    idle_problems,
    problems_between,
    problems_of,
    rows_in_store,
    uncitable,
)
from pincite.testing.crash_child import Life, Order, run_child, sync
from pincite.testing.crash_corpus import LASTING, NEW, OLD, SOURCE, UNTOUCHED, write_version
from pincite.testing.crash_database import own_database
from pincite.testing.crash_plan import Crash, Kill, Then
from pincite.testing.crash_prober import Findings, Prober, Text
from pincite.writing.request import IngestRequest

COLLECTION = "pincite_docs_g1"
LEASE_TTL_MS = 500


@dataclass(frozen=True)
class Outcome:
    """One crash and what came after it; seconds.

    ``settled_s``: how long after the receipt a reader without Strong consistency may still have
    seen an old text.
    """

    crash: Crash
    lives: tuple[Life, ...]
    recovery_s: float
    settled_s: float
    findings: Findings
    problems: tuple[str, ...]

    @property
    def killed(self) -> bool:
        """Every kill came in time."""
        return all(life.killed for life in self.lives)


class Scene:
    """One corpus on one store, with a prober that never stops; a context manager.

    Each crash happens on the way from the version that the last one ended with to the other.

    Args:
        folder: For the home, the pages and what children leave; nothing else may use it.
        uri: Address of the store's server; the scene has a database of its own there.
        flow: Children run the Prefect flow, at the API that the environment names.
    """

    def __init__(self, folder: Path, uri: str, *, flow: bool = False) -> None:
        self.life_s = 0.0
        self._folder = folder
        self._pages = folder / SOURCE
        self._uri = uri
        self._request = IngestRequest((str(self._pages),))
        self._flow = flow
        self._past: set[Text] = set()
        self._serials = count(1)
        self._pages_now = (OLD, next(self._serials))

    def __enter__(self) -> Scene:
        with ExitStack() as stack:
            database = stack.enter_context(own_database(self._uri))
            self._settings = crash_settings(self._folder / "home", self._uri, database)
            write_version(self._pages, *self._pages_now)
            sync(self._settings, self._request)
            self._expected = self._reference()
            self._past.update(self._expected.items())
            self._prober = Prober(self._settings, COLLECTION, _allowed(self._expected))
            stack.enter_context(self._prober)
            self._turn()
            self.life_s = self._child(Kill()).seconds
            self._open = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open.close()

    def crash(self, crash: Crash) -> Outcome:
        """Kill a sync to the other version, and the ones that put it right; then put it right."""
        self._prober.take()
        self._turn()
        lives = tuple(self._child(kill) for kill in crash.kills)
        if not lives[0].killed:
            # The very first child takes longer than the others.
            self.life_s = min(self.life_s, lives[0].seconds)
        problems = [*_not_killed(crash, lives), *self._between(crash.then)]
        start = time.monotonic()
        receipt = sync(self._settings, self._request)
        recovery_s = time.monotonic() - start
        expected = self._expected
        settled_s = self._prober.settles_on(self._asked_for(expected))
        findings = self._prober.take()
        problems += [
            *findings.problems,
            *([] if receipt.error is None else [str(receipt.error)]),
            *([] if settled_s is not None else ["the new text is not what is found"]),
            *problems_of(self._settings, expected, findings.seen),
            *idle_problems(sync(self._settings, self._request)),
        ]
        return Outcome(crash, lives, recovery_s, settled_s or 0.0, findings, tuple(problems))

    def _between(self, then: Then) -> list[str]:
        """What comes between the last kill and the sync that must put everything right."""
        problems = uncitable(self._settings, self._prober.asked_anew())
        if then is Then.TAKEN_BACK:
            self._turn_back()
        if then is Then.ELSEWHERE:
            sync(self._settings, IngestRequest((str(self._pages / UNTOUCHED),)))
            problems += problems_between(self._settings, self._expected)
        return problems

    def _turn(self) -> None:
        """The folder changes to its other version; readers may be given either from here on."""
        self._before = (self._pages_now, self._expected)
        version = NEW if self._pages_now[0] == OLD else OLD
        self._pages_now = (version, next(self._serials))
        write_version(self._pages, *self._pages_now)
        self._expected = self._reference()
        self._prober.allow(_allowed(self._before[1], self._expected), frozenset(self._past))
        self._past.update(self._expected.items())

    def _turn_back(self) -> None:
        self._pages_now, self._expected = self._before
        write_version(self._pages, *self._pages_now)

    def _reference(self) -> Rows:
        """The rows after the same turns without a crash, on the in-memory store."""
        settings = crash_settings(self._folder / "reference", f"memory://{self._folder}")
        sync(settings, self._request)
        return dict(rows_in_store(settings))

    def _child(self, kill: Kill) -> Life:
        after_s = None if kill.share is None else kill.share * self.life_s
        trail = self._folder / "trail.txt"
        order = Order(self._settings, self._request, trail, kill.point, after_s, self._flow)
        return run_child(order)

    def _asked_for(self, rows: Rows) -> frozenset[Text]:
        asked = self._prober.documents
        return frozenset(row for row in rows.items() if document_of(row[0]) in asked)


def _not_killed(crash: Crash, lives: Sequence[Life]) -> list[str]:
    """Places that a child never came by: the plan is wrong, or the pipeline has changed."""
    pairs = zip(crash.kills, lives, strict=True)
    return [f"never came by {k.point}" for k, life in pairs if k.point and not life.killed]


def crash_settings(home: Path, uri: str, database: str = "") -> Settings:
    """Small chunks, small batches, a short lease."""
    ingest = IngestSettings(chunk_size=80, chunk_overlap=8, batch_documents=5, in_flight=3)
    return Settings(
        home=home,
        rag=RagSettings(ingest=ingest),
        store=StoreSettings(uri=uri, database=database),
        embedder=EmbedderSettings(provider="hash"),
        lease=LeaseSettings(ttl_ms=LEASE_TTL_MS),
    )


def _allowed(*states: Rows) -> dict[str, frozenset[Text]]:
    """Per document that a reader must always find: all that it may be given of it."""
    texts = [text for rows in states for text in rows.items()]
    return {
        doc_id: frozenset(text for text in texts if document_of(text[0]) == doc_id)
        for doc_id in sorted({document_of(key) for key, _ in texts})
        if doc_id.endswith(LASTING)
    }
