"""Adapters with places in the middle of what they do, for a process that dies there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection, Engine, event

from pincite.embedding.port import Action, Embedder, EmbedderInfo, Vectors
from pincite.errors import EmbeddingRejected
from pincite.testing.crash_corpus import REFUSED_WORD
from pincite.testing.crash_points import Killer
from pincite.wiring import Workspace


class RefusingEmbedder:
    """An embedder that refuses texts with one word, and otherwise is the one behind it."""

    def __init__(self, embedder: Embedder, killer: Killer | None = None) -> None:
        self._embedder = embedder
        self._killer = killer

    @property
    def info(self) -> EmbedderInfo:
        """That of the embedder behind it."""
        return self._embedder.info

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """That of the embedder behind it."""
        return self._embedder.count_tokens(texts)

    async def embed(
        self, texts: Sequence[str], action: Action, timeout_s: float | None = None
    ) -> Vectors:
        """Vectors of the texts.

        Raises:
            EmbeddingRejected: One of them has the word.
        """
        if any(REFUSED_WORD in text for text in texts):
            raise EmbeddingRejected(f"A text with {REFUSED_WORD!r} is refused.")
        vectors = await self._embedder.embed(texts, action, timeout_s)
        if self._killer is not None:
            self._killer.passing_in_step("computed, not kept")
        return vectors

    async def close(self) -> None:
        """Close the embedder behind it."""
        await self._embedder.close()


class HalvingStore:
    """A store that writes and deletes in two halves, with a place between them."""

    def __init__(self, store: Any, killer: Killer) -> None:
        self._store = store
        self._killer = killer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def upsert(self, collection: str, rows: pa.Table, timeout_s: float | None = None) -> int:
        """Write the rows; returns how many."""
        middle = (rows.num_rows + 1) // 2
        written = await self._store.upsert(collection, rows.slice(0, middle), timeout_s)
        self._killer.passing_in_step("half of the rows written")
        rest = await self._store.upsert(collection, rows.slice(middle), timeout_s)
        return int(written) + int(rest)

    async def delete(self, collection: str, *, ids: Sequence[str]) -> None:
        """Remove rows by key."""
        middle = (len(ids) + 1) // 2
        self._killer.passing_in_step("journalled, nothing deleted")
        await self._store.delete(collection, ids=ids[:middle])
        self._killer.passing_in_step("half of the rows deleted")
        await self._store.delete(collection, ids=ids[middle:])
        self._killer.passing_in_step("deleted, not confirmed")


class WatchedTexts:
    """Kept texts with a place after each text."""

    def __init__(self, texts: Any, killer: Killer) -> None:
        self._texts = texts
        self._killer = killer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._texts, name)

    def of(self, corpus: str) -> WatchedTexts:
        """The texts of a corpus, watched."""
        return WatchedTexts(self._texts.of(corpus), self._killer)

    def put(self, text: str) -> str:
        """Keep the text and return its digest."""
        digest: str = self._texts.put(text)
        self._killer.passing_in_step("a text kept")
        return digest


def refuse_some_texts(workspace: Workspace) -> None:
    """Put the refusing embedder in front of the workspace's."""
    workspace.embedder = RefusingEmbedder(workspace.embedder)


def watch(workspace: Workspace, killer: Killer) -> None:
    """Put places into everything that the workspace's pipeline writes to.

    Commits are watched in the whole process, which must end with the run.
    """
    workspace.embedder = RefusingEmbedder(workspace.embedder, killer)
    workspace.store = HalvingStore(workspace.store, killer)  # type: ignore[assignment]
    workspace.texts = WatchedTexts(workspace.texts, killer)

    def at_commit(_: Connection) -> None:
        killer.passing_in_step("before the commit")

    event.listen(Engine, "commit", at_commit)
