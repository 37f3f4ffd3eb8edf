"""The corpus of memory: what agents keep about the people they talk to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa
from pydantic import Field

from pincite.analysis import analyze
from pincite.corpora.item_fields import (
    SUFFIXES,
    Input,
    Time,
    canonical_json,
    checked,
    clean_text,
    epoch_ms,
    hashed_id,
    require_encodable,
)
from pincite.corpora.port import Item, Ranked
from pincite.errors import ItemInvalid
from pincite.identity import text_sha256
from pincite.schemas.candidates import CANDIDATES
from pincite.schemas.owner import NOBODY
from pincite.scopes import ALL, check_scope, corpus_scopes

MemoryType = Literal["constraint", "preference", "fact", "todo_hint"]
# What an agent must heed comes before what it may use.
_FIRST = frozenset({"constraint", "preference"})

MAX_TEXT_CHARS = 32_000
MAX_SENSITIVITY = 1_000_000
READER = "memory/1"
# Recency parts items that hold equally many words of the query, and no others.
_RECENCY = 1e-3


class MemoryInput(Input):
    """A memory item as a client sends it.

    Without ``id`` the text is its identity: the same words of one owner are one item.
    """

    id: str | None = Field(None, description="the client's id of the item; '' is refused")
    user_id: str | None = Field(None, description="whose memory it is; required")
    assistant_id: str | None = Field(None, description="which assistant remembers; required")
    conversation_id: str | None = Field(None, description="in which conversation; required")
    text: str = Field(max_length=MAX_TEXT_CHARS, description="what is remembered")
    memory_type: MemoryType = Field("fact", description="constraint, preference, fact, todo_hint")
    confidence: float = Field(1.0, ge=0, le=1, strict=True, description="how sure it is, in [0, 1]")
    sensitivity_level: int = Field(
        0, ge=0, le=MAX_SENSITIVITY, strict=True, description="the higher the more sensitive"
    )
    ttl_at: Time | None = Field(None, description="from this time on it is gone; ISO 8601, zone")
    source_event_id: str = Field("", description="the event that it was learned from")
    created_at: Time | None = Field(None, description="when it was learned; default: now")


def memory_id(kb_scope: str, owner: Mapping[str, str], item_id: str) -> str:
    """The document id of an item: the same ``item_id`` in two scopes are two items."""
    ids = [owner.get(name, "") for name in ALL["memory"]]
    return hashed_id("memory", [kb_scope, *ids, item_id])


class MemoryCorpus:
    """Items of people; each belongs to one user, assistant and conversation."""

    name = "memory"
    suffixes = SUFFIXES
    legacy_order = ("-created_at", "doc_id")

    def parse(self, value: Mapping[str, Any], kb_scope: str, now_ms: int) -> Item:
        """See ``ItemCorpus.parse``; the scope is part of the identity, and so is ``id``."""
        given = checked(MemoryInput, value)
        owner = corpus_scopes(self.name, given.model_dump(include=set(ALL[self.name])))
        text = clean_text(require_encodable("text", given.text))
        if not text:
            raise ItemInvalid("text is blank.")
        item_id = text_sha256(text)[:32] if given.id is None else check_scope("id", given.id)
        if given.source_event_id:
            check_scope("source_event_id", given.source_event_id)
        row = {
            "doc_id": memory_id(kb_scope, owner, item_id),
            "kb_scope": kb_scope,
            "text_digest": text_sha256(text),
            "created_at": epoch_ms(given.created_at),
            "expires_at": epoch_ms(given.ttl_at),
            "item_id": item_id,
            **owner,
            "memory_type": given.memory_type,
            "confidence": float(given.confidence),
            "sensitivity_level": given.sensitivity_level,
            "source_event_id": given.source_event_id,
        }
        return Item(row, text)

    def build_ingest_document(self, item: Item) -> dict[str, Any]:
        """See ``ItemCorpus.build_ingest_document``."""
        row = item.row
        kept = ("item_id", "memory_type", "confidence", "source_event_id", "created_at")
        belongs = ("user_id", "assistant_id", "conversation_id", "sensitivity_level", "expires_at")
        return {
            **NOBODY,
            **{name: row[name] for name in belongs},
            "doc_id": row["doc_id"],
            "source": f"memory/{row['item_id']}",
            "source_name": "",
            "kb_scope": row["kb_scope"],
            "category": row["memory_type"],
            "title": "",
            "summary": "",
            "keywords": [],
            "tags": [],
            "aliases": [],
            "metadata": canonical_json({name: row[name] for name in kept}),
            "text": item.text,
            "text_digest": row["text_digest"],
            "raw_sha256": row["text_digest"],
            "reader": READER,
        }

    def adjust(self, candidates: pa.Table) -> pa.Table:
        """Constraints and preferences before facts and hints; by score within each."""
        first = [int(category in _FIRST) for category in candidates["category"].to_pylist()]
        at = candidates.column_names.index("priority")
        field = CANDIDATES.schema.field("priority")
        return candidates.set_column(at, field, pa.array(first, field.type))

    def legacy_rank(self, query: str, items: Sequence[Item]) -> list[Ranked]:
        """By the share of the query's words that an item holds, then the newest first."""
        wanted = set(analyze(query))
        ranked = []
        for place, item in enumerate(items):
            share = len(wanted.intersection(analyze(item.text))) / (len(wanted) or 1)
            recency = _RECENCY * (1 - place / len(items))
            ranked.append(Ranked(item.row, share + recency, share or None))
        return sorted(ranked, key=lambda one: -one.score)
