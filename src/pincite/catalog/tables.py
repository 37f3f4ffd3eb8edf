"""The catalogue's tables. All times are epoch milliseconds, UTC."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
)

from pincite.catalog.types import Exact, long_text

METADATA = MetaData()
SCHEMA_VERSION = 3

_CORPUS = Exact(64)
_DOC_ID = Exact(512)
_KEY = Exact(560)
_SCOPE = Exact(256)
_SOURCE_NAME = Exact(255)
_OWNER = Exact(64)
# An id of somebody; the callers bound its bytes, so that several fit into one index.
_SCOPE_ID = Exact(256, octets=256)
_DIGEST = String(64)
_PHRASE = Exact(80)
_TEXT = long_text()
_AUTO_ID = BigInteger().with_variant(Integer, "sqlite")


catalog_version = Table("catalog_version", METADATA, Column("version", Integer, primary_key=True))

corpora = Table(
    "corpora",
    METADATA,
    Column("corpus", _CORPUS, primary_key=True),
    Column("live_generation", Integer, nullable=False),
)

revisions = Table(
    "revisions",
    METADATA,
    Column("corpus", _CORPUS, primary_key=True),
    Column("revision", BigInteger, nullable=False),
)

generations = Table(
    "generations",
    METADATA,
    Column("corpus", _CORPUS, primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("collection", String(255), nullable=False),
    Column("recipe", _TEXT, nullable=False),
    Column("state", String(16), nullable=False),
    Column("gate", _TEXT, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

roots = Table(
    "roots",
    METADATA,
    Column("corpus", _CORPUS, primary_key=True),
    Column("source_name", _SOURCE_NAME, primary_key=True),
    Column("folder", _TEXT, nullable=False),
)

documents = Table(
    "documents",
    METADATA,
    Column("corpus", _CORPUS, primary_key=True),
    Column("doc_id", _DOC_ID, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("kb_scope", _SCOPE, nullable=False),
    Column("source_name", _SOURCE_NAME, nullable=False),
    Column("source", _TEXT, nullable=False),
    Column("category", _TEXT, nullable=False),
    Column("title", _TEXT, nullable=False),
    Column("summary", _TEXT, nullable=False),
    Column("keywords", _TEXT, nullable=False),
    Column("tags", _TEXT, nullable=False),
    Column("aliases", _TEXT, nullable=False),
    Column("text_digest", _DIGEST, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

# A query asks by phrase and scope, so the rows lie in that order and none is read in vain.
l0_terms = Table(
    "l0_terms",
    METADATA,
    Column("corpus", _CORPUS, primary_key=True),
    Column("term", _PHRASE, primary_key=True),
    Column("kb_scope", Exact(256, octets=256), primary_key=True),
    Column("doc_id", Exact(512, octets=512), primary_key=True),
    Column("kind", Exact(16), primary_key=True),
    Column("category", _TEXT, nullable=False),
    Index("ix_l0_terms_document", "corpus", "doc_id"),
    sqlite_with_rowid=False,
)

versions = Table(
    "versions",
    METADATA,
    Column("corpus", _CORPUS, primary_key=True),
    Column("doc_id", _DOC_ID, primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("text_digest", _DIGEST, nullable=False),
    Column("raw_sha256", _DIGEST, nullable=False),
    Column("record", _TEXT, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

indexed = Table(
    "indexed",
    METADATA,
    Column("corpus", _CORPUS, primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("doc_id", _DOC_ID, primary_key=True),
    Column("kb_scope", _SCOPE, nullable=False),
    Column("source_name", _SOURCE_NAME, nullable=False),
    Column("source", _TEXT, nullable=False),
    Column("fingerprint", _DIGEST, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("digest", _DIGEST, nullable=False),
    Column("state", String(16), nullable=False),
    Column("error_code", String(64), nullable=False),
    Column("error_message", _TEXT, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("ix_indexed_source", "corpus", "generation", "source_name", "kb_scope"),
)

ledger = Table(
    "ledger",
    METADATA,
    Column("corpus", _CORPUS, primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("evidence_key", _KEY, primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("doc_id", _DOC_ID, nullable=False),
    Column("chunk_index", Integer, nullable=False),
    Column("content_sha256", _DIGEST, nullable=False),
    Column("text_digest", _DIGEST, nullable=False),
    Column("char_start", BigInteger, nullable=False),
    Column("char_end", BigInteger, nullable=False),
    Column("heading", _TEXT, nullable=False),
    Column("erased_at", BigInteger, nullable=False, default=0),
    # Key first: a key is also asked for without a corpus.
    Index("ix_ledger_key", "evidence_key", "corpus"),
    Index("ix_ledger_document", "corpus", "generation", "doc_id", "version"),
)

journal = Table(
    "journal",
    METADATA,
    Column("id", _AUTO_ID, primary_key=True, autoincrement=True),
    Column("corpus", _CORPUS, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("doc_id", _DOC_ID, nullable=False),
    Column("operation", String(16), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("owner", _OWNER, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("opened_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("closed_at", BigInteger, nullable=True),
    Column("outcome", String(16), nullable=False, default=""),
    # 1 while open, NULL once closed: unique indexes let NULLs repeat on every database.
    Column("open_slot", SmallInteger, nullable=True),
    UniqueConstraint("corpus", "generation", "doc_id", "open_slot", name="uq_journal_open"),
    # A version number is given once, whatever generation, and tombstones included.
    UniqueConstraint("corpus", "doc_id", "version", name="uq_journal_version"),
    # Open rows are few among all that ever were.
    Index("ix_journal_open", "open_slot", "corpus", "generation"),
)

leases = Table(
    "leases",
    METADATA,
    Column("corpus", _CORPUS, primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("owner", _OWNER, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
)

lookups = Table(
    "lookups",
    METADATA,
    Column("id", _AUTO_ID, primary_key=True, autoincrement=True),
    Column("trace_id", Exact(64), nullable=False),
    # Several names with a comma between when several corpora were asked.
    Column("corpus", _CORPUS, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("latency_ms", Integer, nullable=False),
    Column("evidence_status", String(16), nullable=False),
    Column("hit_count", Integer, nullable=False),
    Column("fallback_reason", String(64), nullable=False),
    Column("degradations", _TEXT, nullable=False),
    # NULL in lines that were written before schema version 2.
    Column("kb_scope", _SCOPE, nullable=True),
    Column("generation", Integer, nullable=True),
    Column("mode", String(16), nullable=True),
    Column("selected_attempt", String(255), nullable=True),
    Column("reranker", _TEXT, nullable=True),
    Column("reranker_applied", Boolean, nullable=True),
    Column("rerank_reason", String(64), nullable=True),
    Column("query_sha256", _DIGEST, nullable=True),
    Column("query", _TEXT, nullable=True),
    Column("blocks", _TEXT, nullable=True),
    # NULL in lines that were written before schema version 3.
    Column("stages", _TEXT, nullable=True),
    Column("cached", Boolean, nullable=True),
    Column("connection", _OWNER, nullable=True),
    Column("degraded_in", _TEXT, nullable=True),
    Column("legacy", _TEXT, nullable=True),
    Index("ix_lookups_corpus", "corpus", "created_at"),
    Index("ix_lookups_trace", "trace_id"),
    Index("ix_lookups_connection", "connection", "id"),
)

shadows = Table(
    "shadows",
    METADATA,
    Column("id", _AUTO_ID, primary_key=True, autoincrement=True),
    Column("corpus", _CORPUS, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("n", Integer, nullable=False),
    Column("overlap", Float, nullable=True),
    Column("correlation", Float, nullable=True),
    Column("legacy_ms", Integer, nullable=False),
    Column("core_ms", Integer, nullable=False),
    # What the core failed with, "" where it answered.
    Column("error_code", String(64), nullable=False),
    Index("ix_shadows_corpus", "corpus", "id"),
)


def _item_columns() -> tuple[Column[Any], ...]:
    """What the items of every corpus have: identity, text, and where their writing stands."""
    return (
        Column("doc_id", _DOC_ID, primary_key=True),
        Column("kb_scope", _SCOPE, nullable=False),
        Column("text_digest", _DIGEST, nullable=False),
        Column("created_at", BigInteger, nullable=False),
        # 0 = never.
        Column("expires_at", BigInteger, nullable=False),
        Column("state", Exact(16), nullable=False),
        Column("error_code", String(64), nullable=False),
        Column("attempts", Integer, nullable=False),
        # Grows with each change, so that a slow writer does not settle what came after it.
        Column("revision", BigInteger, nullable=False),
        Column("updated_at", BigInteger, nullable=False),
    )


memory_items = Table(
    "memory_items",
    METADATA,
    *_item_columns(),
    Column("item_id", _SCOPE, nullable=False),
    Column("user_id", _SCOPE_ID, nullable=False),
    Column("assistant_id", _SCOPE_ID, nullable=False),
    Column("conversation_id", _SCOPE_ID, nullable=False),
    Column("memory_type", String(16), nullable=False),
    Column("confidence", Float, nullable=False),
    Column("sensitivity_level", Integer, nullable=False),
    Column("source_event_id", _SCOPE, nullable=False),
    Index("ix_memory_items_owner", "user_id", "assistant_id", "conversation_id", "created_at"),
    Index("ix_memory_items_state", "state", "updated_at"),
    Index("ix_memory_items_expiry", "expires_at"),
)

# The texts of memory items, old ones too as long as they may be cited.
memory_texts = Table(
    "memory_texts",
    METADATA,
    Column("digest", Exact(64), primary_key=True),
    Column("text", _TEXT, nullable=False),
)

web_results = Table(
    "web_results",
    METADATA,
    *_item_columns(),
    Column("session_id", _SCOPE_ID, nullable=False),
    Column("query_id", _SCOPE_ID, nullable=False),
    Column("url", _TEXT, nullable=False),
    Column("domain", _SOURCE_NAME, nullable=False),
    Column("title", _TEXT, nullable=False),
    Column("language", Exact(64), nullable=False),
    # Epoch ms, 0 = unknown.
    Column("published_at", BigInteger, nullable=False),
    Column("fetched_at", BigInteger, nullable=False),
    # From 1; 0 = unknown.
    Column("source_rank", Integer, nullable=False),
    Index("ix_web_results_session", "session_id", "query_id"),
    Index("ix_web_results_query", "query_id"),
    Index("ix_web_results_state", "state", "updated_at"),
    Index("ix_web_results_expiry", "expires_at"),
)

runs = Table(
    "runs",
    METADATA,
    Column("run_id", Exact(64), primary_key=True),
    Column("corpus", _CORPUS, nullable=False),
    Column("action", String(16), nullable=False),
    Column("flow_run_id", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("receipt", _TEXT, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger, nullable=False),
    Index("ix_runs_started", "started_at"),
)

# A database whose default is another character set would refuse an emoji in a title.
for _table in METADATA.tables.values():
    for _dialect in ("mysql", "mariadb"):
        _table.dialect_options[_dialect].update(engine="InnoDB", charset="utf8mb4")
