"""Whether lookups can be answered: the parts are asked, each within a short time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import numpy as np

from pincite.errors import CatalogUnreachable, PinciteError, StoreUnreachable
from pincite.retrieval.knowledge import KnowledgeSearchRequest
from pincite.retrieval.parts import LookupParts, Pinned
from pincite.retrieval.retriever import RetrieveRequest
from pincite.retrieval.steps import pin
from pincite.store.port import Mode
from pincite.wiring import Workspace

OK = "ok"
UNKNOWN = "unknown"
PROBE_S = 1.5
# No collection of ours has this name.
_NO_COLLECTION = "pincite_ready"


class Readiness:
    """Asks the catalogue what is live, and the store for a passage of each of it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._catalog = _Probe(self._pinned, CatalogUnreachable.code)
        self._store = _Probe(self._search, StoreUnreachable.code)
        self._live: list[Pinned] = []

    async def parts(self) -> dict[str, str]:
        """``ok`` or a code for each part; ``unknown`` where another one is missing."""
        catalog = await self._catalog.state()
        store = await self._store.state() if catalog == OK else UNKNOWN
        return {"catalog": catalog, "store": store}

    async def _pinned(self) -> None:
        parts = await asyncio.to_thread(lambda: self._workspace.lookup_parts)
        names = parts.corpora if not parts.foreign else self._workspace.settings.lookup.corpora
        pins = [await pin(parts, name) for name in names]
        self._live = [live for live in pins if live is not None]

    async def _search(self) -> None:
        parts = self._workspace.lookup_parts
        if not self._live:
            await self._workspace.store.exists(_NO_COLLECTION)
        await asyncio.gather(*(_one_passage(parts, live) for live in self._live))


async def _one_passage(parts: LookupParts, live: Pinned) -> None:
    dim = parts.embedder_for(live.recipe).info.dim
    query = KnowledgeSearchRequest(
        mode=Mode.DENSE,
        top_k=1,
        vector=np.full(dim, dim**-0.5, np.float32),
        timeout_s=PROBE_S,
    )
    await parts.retriever.retrieve(
        RetrieveRequest(live.corpus, live.generation, live.collection, query)
    )


class _Probe:
    """One question to one part; while it hangs it is not asked again."""

    def __init__(self, ask: Callable[[], Awaitable[None]], late: str) -> None:
        self._ask = ask
        self._late = late
        self._asked: asyncio.Task[str] | None = None

    async def state(self) -> str:
        """``ok``, or the code of what is wrong."""
        if self._asked is None or self._asked.done():
            self._asked = asyncio.create_task(self._answer())
        await asyncio.wait({self._asked}, timeout=PROBE_S)
        return self._asked.result() if self._asked.done() else self._late

    async def _answer(self) -> str:
        try:
            await self._ask()
        except PinciteError as error:
            return error.code
        except Exception:
            return PinciteError.code
        return OK
