"""Every setting with its default, unit and bounds.

Field names are the snake_case form of the kebab-case keys in ``pincite.toml``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from pincite.scopes import DEFAULT_EXCLUDED

Rollout = Literal["off", "shadow", "canary", "on"]


class Section(BaseModel):
    """A group of settings; immutable, unknown keys refused by the loader."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        allow_inf_nan=False,
        # A traceback must not show a token that stands where it does not belong.
        hide_input_in_errors=True,
    )


class IngestSettings(Section):
    """How documents become chunks and batches."""

    chunk_size: int = Field(400, ge=1, description="tokens in a chunk at most")
    chunk_overlap: int = Field(80, ge=0, description="tokens shared with the chunk before")
    max_file_bytes: int = Field(16 * 2**20, ge=1, description="larger files are skipped")
    batch_bytes: int = Field(1_000_000, ge=1, description="bytes of the files of a batch")
    batch_documents: int = Field(256, ge=1, description="documents in a batch at most")
    in_flight: int = Field(3, ge=1, le=16, description="batches worked on at once")

    @model_validator(mode="after")
    def _overlap_leaves_room(self) -> IngestSettings:
        if self.chunk_overlap >= self.chunk_size:
            raise ValueError(
                f"rag.ingest.chunk-overlap ({self.chunk_overlap}) must be under "
                f"rag.ingest.chunk-size ({self.chunk_size})"
            )
        return self


class RetrieveSettings(Section):
    """Limits of one lookup."""

    timeout_ms: int = Field(1_500, ge=1, le=600_000, description="deadline of retrieval in all")


class RerankerSettings(Section):
    """The second look at the candidates."""

    enabled: bool = Field(True, description="rerank the candidates")
    provider: str = Field("blend", description="none, blend, http or openai")
    base_url: str = Field("", repr=False, description="where the service answers")
    api: Literal["cohere", "vllm", "tei"] = Field("cohere", description="shape of http requests")
    model: str = Field("", description="model name as the service spells it")
    api_key: SecretStr = Field(SecretStr(""), description="secret of the service")
    top_k: int = Field(50, ge=1, le=1_000, description="candidates that are reranked")
    timeout_ms: int = Field(1_200, ge=1, description="deadline of one rerank call")


class HotSettings(Section):
    """What a process keeps of the latest lookups."""

    vectors: int = Field(1_000, ge=0, description="query vectors kept; 0 = none")
    results: int = Field(250, ge=0, description="whole answers kept; 0 = none")
    ttl_ms: int = Field(60_000, ge=1, description="how long they are kept")


class RagSettings(Section):
    """Retrieval and ingest of every corpus."""

    enabled: bool = Field(True, description="false: a lookup answers with no evidence")
    retrieve_k: int | None = Field(None, ge=1, le=16_384, description="recall width of a leg (20)")
    return_n: int | None = Field(None, ge=1, le=1_000, description="evidence blocks returned (5)")
    top_k: int | None = Field(None, ge=1, le=1_000, description="legacy: stands in for both widths")
    max_chunks_per_document: int = Field(2, ge=1, description="blocks of one document at most")
    threshold: float | None = Field(None, ge=-1, le=1, description="least cosine of a candidate")
    low_quality: float | None = Field(None, ge=-1, le=1, description="under it an attempt is weak")
    weak: float | None = Field(None, ge=-1, le=1, description="under it evidence is WEAK")
    mode: Literal["dense", "lexical", "hybrid"] = Field("hybrid", description="search legs")
    token_budget: int = Field(3_000, ge=1, description="tokens of all blocks together")
    reranker: RerankerSettings = RerankerSettings()
    ingest: IngestSettings = IngestSettings()
    retrieve: RetrieveSettings = RetrieveSettings()
    hot: HotSettings = HotSettings()

    @property
    def recall_width(self) -> int:
        return self.retrieve_k or self.top_k or 20

    @property
    def block_count(self) -> int:
        return self.return_n or self.top_k or 5

    @model_validator(mode="after")
    def _low_quality_is_above_threshold(self) -> RagSettings:
        low, least = self.low_quality, self.threshold
        if low is not None and least is not None and low < least:
            raise ValueError(f"rag.low-quality ({low}) must not be under rag.threshold ({least})")
        return self


class VectorStoreSettings(Section):
    """How the collection is laid out."""

    mode: Literal["native", "spring", "sdk"] = Field("native", description="layout of rows")
    collection: str = Field("", description="collection that spring and sdk search, read only")


class RetrievalSettings(Section):
    """What a lookup may see."""

    kb_scope: str = Field("", description="the only scope that is searched; '' = all but excluded")
    exclude_scopes: tuple[str, ...] = Field(
        DEFAULT_EXCLUDED, description="scopes an unscoped lookup leaves out"
    )
    vector_store: VectorStoreSettings = VectorStoreSettings()


class CorpusRagSettings(Section):
    """Roll-out of the core for one corpus."""

    enabled: bool = Field(True, description="use the core")
    rollout: Rollout = Field("on", description="off, shadow, canary or on")
    canary_percent: int = Field(0, ge=0, le=100, description="share of users on the core")


class MemorySettings(Section):
    """What agents remember of their users."""

    rag: CorpusRagSettings = CorpusRagSettings()
    max_sensitivity: int | None = Field(
        None, ge=0, description="the highest sensitivity level that a lookup returns"
    )
    write_timeout_ms: int = Field(
        5_000, ge=1, le=600_000, description="after it an item written online stays PENDING"
    )


class TrustRule(Section):
    """How far one domain, and every name below it, is trusted."""

    domain: str = Field(min_length=1, description="a domain name; the longest that fits counts")
    weight: float = Field(ge=0, le=1, description="0 = not at all, 1 = fully")


class WebSettings(Section):
    """What web searches brought."""

    rag: CorpusRagSettings = CorpusRagSettings()
    ttl_hours: float = Field(24.0, gt=0, description="results are gone after so many hours")
    write_timeout_ms: int = Field(
        10_000, ge=1, le=600_000, description="after it results written online stay PENDING"
    )
    trust: tuple[TrustRule, ...] = Field((), description="domains and how far they are trusted")
    default_trust: float = Field(0.5, ge=0, le=1, description="trust of every other domain")
    trust_weight: float = Field(0.2, ge=0, le=1, description="share of trust in the final score")
    rank_weight: float = Field(
        0.05, ge=0, le=1, description="share of the search engine's rank in the final score"
    )

    @model_validator(mode="after")
    def _similarity_counts_most(self) -> WebSettings:
        if self.trust_weight + self.rank_weight >= 1:
            raise ValueError(
                f"web.trust-weight ({self.trust_weight}) and web.rank-weight "
                f"({self.rank_weight}) must leave room for similarity: together under 1"
            )
        return self


class TokenSettings(Section):
    """One bearer token and what it opens.

    An id that is given here is the only one that its holder may use; one that is not given is
    taken from the request.
    """

    name: str = Field(min_length=1, max_length=64, description="who holds it, for logs")
    token: SecretStr = Field(description="the secret, at least 16 characters")
    corpora: tuple[str, ...] = Field(("docs",), min_length=1, description="corpora it opens")
    rights: tuple[Literal["read", "write"], ...] = Field(
        ("read",), min_length=1, description="read, write or both"
    )
    kb_scope: str = Field("", description="the only scope it sees; '' = as the settings say")
    user_id: str = Field("", description="memory: the only user; '' = the request names one")
    assistant_id: str = Field("", description="memory: the only assistant")
    conversation_id: str = Field("", description="memory: the only conversation")
    session_id: str = Field("", description="web: the only session")
    query_id: str = Field("", description="web: the only search")

    @model_validator(mode="after")
    def _token_is_long(self) -> TokenSettings:
        if len(self.token.get_secret_value()) < 16:
            raise ValueError(f"the token of {self.name!r} has fewer than 16 characters")
        return self


class ServeSettings(Section):
    """The HTTP and MCP server."""

    host: str = Field("127.0.0.1", description="address to listen on; others need a token")
    port: int = Field(8765, ge=0, le=65_535, description="port to listen on; 0 = a free one")
    tokens: tuple[TokenSettings, ...] = Field((), description="who may ask; () = loopback only")
    allowed_hosts: tuple[str, ...] = Field(
        (), description="names by which clients may call it, beside its own address"
    )
    max_body_bytes: int = Field(1_048_576, ge=1_024, description="a larger request is refused")
    max_query_chars: int = Field(8_000, ge=1, description="a longer query is refused")
    concurrency: int = Field(32, ge=1, description="requests worked on at once")
    requests_per_minute: int = Field(600, ge=1, description="of one token, or of all without one")
    grace_ms: int = Field(10_000, ge=0, description="how long a stop waits for what is in flight")

    @model_validator(mode="after")
    def _tokens_differ(self) -> ServeSettings:
        names = [one.name for one in self.tokens]
        secrets = {one.token.get_secret_value() for one in self.tokens}
        if len(set(names)) < len(names) or len(secrets) < len(names):
            raise ValueError("two of [[serve.tokens]] have one name or one token")
        return self


class McpSettings(Section):
    """Whose memory and sessions an MCP connection over stdio sees."""

    user_id: str = Field("", description="memory: whose")
    assistant_id: str = Field("", description="memory: of which assistant")
    conversation_id: str = Field("", description="memory: of which conversation")
    session_id: str = Field("", description="web: of which session")
    query_id: str = Field("", description="web: of which search")


class LookupSettings(Section):
    """Defaults of a lookup."""

    corpora: tuple[str, ...] = Field(
        ("docs",), min_length=1, description="corpora that a lookup asks"
    )
    log_queries: bool = Field(False, description="keep the text of queries in the lookup log")


class StoreSettings(Section):
    """Where the vectors live. Addresses may carry a password: ``repr`` leaves them out."""

    uri: str = Field(
        "", repr=False, description="Milvus URI or folder; '' = Milvus Lite under home"
    )
    token: SecretStr = Field(SecretStr(""), description="user:password or API key")
    database: str = Field("", description="Milvus database; '' = default")
    timeout_ms: int = Field(30_000, ge=1, description="deadline of one store call")


class CatalogSettings(Section):
    """Where the catalogue lives."""

    url: str = Field("", repr=False, description="SQLAlchemy URL; '' = SQLite under home")


class LedgerSettings(Section):
    """How long evidence stays citable that no generation holds any more."""

    retention_days: int = Field(
        400, ge=1, le=36_500, description="days after it was superseded or removed"
    )


class TextsSettings(Section):
    """Where the kept texts live."""

    url: str = Field("", repr=False, description="fsspec URL; '' = a folder under home")


class EmbedderSettings(Section):
    """What turns text into vectors."""

    provider: str = Field("local", description="local, openai, fastembed or hash")
    model: str = Field("", description="model name; '' = the provider's default")
    revision: str = Field("", description="names the model's version when the name does not")
    base_url: str = Field("", description="OpenAI-compatible endpoint")
    api_key: SecretStr = Field(SecretStr(""), description="'' = OPENAI_API_KEY of the environment")
    dim: int | None = Field(
        None, ge=1, description="vector width, where the provider does not know"
    )
    max_tokens: int | None = Field(None, ge=1, description="the model's input limit")
    passage_prefix: str | None = Field(None, description="put before each passage")
    query_prefix: str | None = Field(None, description="put before each query")
    tokenizer_file: Path | None = Field(None, description="tokenizer.json that counts tokens")
    model_dir: Path | None = Field(None, description="folder of model files (fastembed)")
    offline: bool = Field(False, description="never download model files (fastembed)")
    batch_size: int | None = Field(None, ge=1, description="texts in one request")
    batch_tokens: int | None = Field(None, ge=1, description="tokens in one request")
    concurrency: int | None = Field(None, ge=1, description="requests at a time")
    timeout_ms: int = Field(60_000, ge=1, description="deadline of one request")
    max_retries: int = Field(4, ge=0, description="tries of a request after the first")
    price_per_million_tokens: float | None = Field(None, ge=0, description="shown by --dry-run")


class CacheSettings(Section):
    """The embedding cache."""

    enabled: bool = Field(True, description="keep vectors of texts already embedded")
    max_bytes: int = Field(2 * 2**30, ge=2**20, description="size at which old vectors go")


class LeaseSettings(Section):
    """The right to write into a generation."""

    ttl_ms: int = Field(30_000, ge=200, description="a writer silent for longer has lost it")


class Settings(Section):
    """All settings of one home."""

    home: Path = Field(Path(".pincite"), description="folder of everything kept on this machine")
    rag: RagSettings = RagSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    memory: MemorySettings = MemorySettings()
    web: WebSettings = WebSettings()
    lookup: LookupSettings = LookupSettings()
    store: StoreSettings = StoreSettings()
    catalog: CatalogSettings = CatalogSettings()
    ledger: LedgerSettings = LedgerSettings()
    texts: TextsSettings = TextsSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    cache: CacheSettings = CacheSettings()
    lease: LeaseSettings = LeaseSettings()
    serve: ServeSettings = ServeSettings()
    mcp: McpSettings = McpSettings()

    @property
    def store_uri(self) -> str:
        return self.store.uri or str(self.home / "milvus.db")

    @property
    def catalog_url(self) -> str:
        return self.catalog.url or f"sqlite:///{self.home / 'catalog.sqlite'}"

    @property
    def texts_url(self) -> str:
        return self.texts.url or str(self.home / "texts")

    @property
    def cache_path(self) -> Path:
        return self.home / "cache" / "embeddings.sqlite"
