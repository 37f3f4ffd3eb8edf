"""A small corpus of memory: each row belongs to one user, assistant and conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pincite.recipe import Recipe
from pincite.schemas.owner import NOBODY
from pincite.scopes import ALL
from pincite.testing.small_corpus import Opened, SmallCorpus
from pincite.writing.target import collection_spec

SCOPE_COLUMNS = ALL["memory"]
OWNER = {"user_id": "u-1", "assistant_id": "a-1", "conversation_id": "c-1"}
_DEFAULTS = {**NOBODY, **OWNER}


class MemoryCorpus(SmallCorpus):
    """``SmallCorpus`` with the scope columns of ``memory``; ``OWNER`` owns what names no other.

    Ids, level and expiry come with a document's record: ``write("d", [...], user_id="u-2")``.
    """

    def __init__(self, folder: Path, **adapters: Any) -> None:
        super().__init__(folder, "memory", **adapters)

    async def create(self) -> MemoryCorpus:
        """Make the collection with its own columns, and the live generation."""
        info = self.embedder.info
        await self.store.create(self.collection, collection_spec(self.corpus, info.dim))
        recipe = Recipe("by-hand/1", 400, 80, info.space.id, info.dim)
        self.catalog.generations.add_first(self.corpus, 1, self.collection, recipe)
        return self

    def open(
        self, doc_id: str, text: str, spans: Sequence[tuple[int, int]], **record: Any
    ) -> Opened:
        """As ``SmallCorpus.open``; each row has its owner's ids, level and expiry."""
        belongs = {name: record.pop(name, default) for name, default in _DEFAULTS.items()}
        opened = super().open(doc_id, text, spans, owner=belongs, **record)
        return replace(opened, rows=tuple({**row, **belongs} for row in opened.rows))
