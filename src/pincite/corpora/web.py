"""The corpus of the web: what searches brought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pincite.corpora.item_fields import SUFFIXES
from pincite.corpora.port import Item, Ranked
from pincite.settings.model import WebSettings


class WebCorpus:
    """Search results; each belongs to a session, a search, or both."""

    name = "web"
    suffixes = SUFFIXES
    legacy_order = ("source_rank", "-fetched_at", "doc_id")

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings

    def parse(self, value: Mapping[str, Any], kb_scope: str, now_ms: int) -> Item:
        """See ``ItemCorpus.parse``."""
        raise NotImplementedError

    def build_ingest_document(self, item: Item) -> dict[str, Any]:
        """See ``ItemCorpus.build_ingest_document``."""
        raise NotImplementedError

    def adjust(self, candidates: pa.Table) -> pa.Table:
        """See ``CorpusAdapter.adjust``."""
        return candidates

    def legacy_rank(self, query: str, items: Sequence[Item]) -> list[Ranked]:
        """See ``ItemCorpus.legacy_rank``."""
        raise NotImplementedError
