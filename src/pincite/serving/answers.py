"""What the HTTP API gives, for its OpenAPI document; a test holds real answers against it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from pincite.serving.mcp_schemas import Cited, Result

__all__ = ["Citation", "Health", "LookupAnswer", "ProblemDocument", "Readiness", "Receipt"]


class Answer(BaseModel):
    """Every key is always there, and no other."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)


class Plain(BaseModel):
    """As ``Answer``, with keys as they are."""

    model_config = ConfigDict(extra="forbid")


class Scores(Answer):
    """Parts of a score; higher is better, null = not given."""

    dense: float | None
    lexical: float | None
    fused: float | None
    rerank: float | None
    trust: float | None
    source_rank: float | None


class Block(Answer):
    """One passage of evidence, whole."""

    evidence_key: str
    corpus: str
    generation: int | None
    doc_id: str | None
    chunk_index: int | None
    vector_id: str | None
    source: str
    title: str
    heading: str
    content: str
    char_start: int | None
    char_end: int | None
    trimmed: bool
    content_sha256: str = Field(alias="contentSha256")
    score: float | None
    scores: Scores
    hit_reasons: list[str]
    tokens: int


class Context(Answer):
    """The passages and what they cost."""

    blocks: list[Block]
    token_budget: int
    tokens_used: int


class Degraded(Answer):
    """What the lookup did without."""

    stage: str
    corpus: str
    code: str
    message: str


class Tried(Answer):
    """One pass of search."""

    name: str
    corpus: str
    mode: str
    filter: str
    hit_count: int
    top_score: float | None
    latency_ms: int
    outcome: str


class Stage(Answer):
    """How many candidates went into a stage and came out."""

    name: str
    corpus: str
    entered: int = Field(alias="in")
    left: int = Field(alias="out")
    latency_ms: int


class Dropped(Answer):
    """A candidate that fell out."""

    evidence_key: str
    corpus: str
    source: str
    stage: str
    reason: str
    score: float | None


class TraceOf(Answer):
    """How the evidence was found."""

    selected_attempt: str | None
    fallback_reason: str | None
    degradations: list[Degraded]
    attempts: list[Tried]
    stages: list[Stage]
    dropped: list[Dropped]
    latency_ms: int


class RerankOf(Answer):
    """What the reranker did."""

    enabled: bool
    applied: bool
    reranker: str | None
    top_source: str | None
    fallback_reason: str | None
    latency_ms: int


class LookupAnswer(Answer):
    """The LookupResult."""

    query: str
    transformed_query: str
    corpus: str
    kb_scope: str
    generation: int | None
    trace_id: str
    evidence_status: Literal["SUFFICIENT", "WEAK", "NONE"]
    evidence_score: float | None
    results: list[Result]
    context: Context
    retrieval_trace: TraceOf
    rerank: RerankOf


class Citation(Cited):
    """The text that an evidence key names."""

    model_config = ConfigDict(extra="forbid")


class Outcome(Plain):
    """What became of one item, and why where it is not indexed."""

    id: str
    doc_id: str
    state: Literal["INDEXED", "PENDING", "FAILED", "EXPIRED"]
    code: str | None


class Counts(Plain):
    """How many items are in each state."""

    indexed: int
    pending: int
    failed: int
    expired: int


class Without(Plain):
    """What the write did without."""

    stage: str
    code: str
    message: str


class Receipt(Plain):
    """What a write did."""

    corpus: str
    items: list[Outcome]
    counts: Counts
    degradations: list[Without]


class Health(Plain):
    """The process lives."""

    status: Literal["ok"]


class Readiness(Plain):
    """Whether lookups can be answered; the parts are told to those with a token."""

    status: Literal["ready", "not_ready"]
    parts: dict[str, str] | None = None


class ProblemDocument(Plain):
    """RFC 9457, with the stable code and what to do next."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    next: str
