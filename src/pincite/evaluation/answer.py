"""The contract of a LookupResult as evaluation reads it, from a live lookup or from a fixture.

Every part must be there; what later versions add is ignored. Numbers are finite.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from pincite.errors import FixtureContract

SHOWN_FAULTS = 8

Count = Annotated[int, Field(ge=0, le=2**53)]


class _Part(BaseModel):
    """A part of the document; keys in camelCase."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="ignore", strict=True, frozen=True, allow_inf_nan=False
    )


class Scores(_Part):
    """A block's scores, each on its own scale; ``None`` = nobody gave it."""

    dense: float | None
    lexical: float | None
    fused: float | None
    rerank: float | None
    trust: float | None
    source_rank: float | None


class Block(_Part):
    """An evidence block."""

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
    content_sha256: str
    score: float | None
    scores: Scores
    hit_reasons: list[str]
    tokens: Count


class Result(_Part):
    """A block as an agent is given it; keys in snake_case."""

    model_config = ConfigDict(alias_generator=None)

    document_id: str
    corpus: str
    source: str
    title: str
    excerpt: str
    score: float | None
    hit_reasons: list[str]
    content_sha256: str


class Context(_Part):
    """The blocks in order of rank."""

    blocks: list[Block]
    token_budget: Count
    tokens_used: Count


class Degradation(_Part):
    """Something the answer had to do without."""

    stage: str
    corpus: str
    code: str
    message: str


class Attempt(_Part):
    """One pass of search."""

    name: str
    corpus: str
    mode: str
    filter: str
    hit_count: Count
    top_score: float | None
    latency_ms: Count
    outcome: str


class Stage(_Part):
    """How many went into a stage and how many came out."""

    name: str
    corpus: str
    entered: Count = Field(alias="in")
    left: Count = Field(alias="out")
    latency_ms: Count


class Dropped(_Part):
    """A candidate that fell out."""

    evidence_key: str
    corpus: str
    source: str
    stage: str
    reason: str
    score: float | None


class Trace(_Part):
    """What happened on the way; latency in ms."""

    selected_attempt: str | None
    fallback_reason: str | None
    degradations: list[Degradation]
    attempts: list[Attempt]
    stages: list[Stage]
    dropped: list[Dropped]
    latency_ms: Count


class Rerank(_Part):
    """What the reranker did."""

    enabled: bool
    applied: bool
    reranker: str | None
    top_source: str | None
    fallback_reason: str | None
    latency_ms: Count


class Answer(_Part):
    """A LookupResult."""

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
    retrieval_trace: Trace
    rerank: Rerank

    @property
    def blocks(self) -> list[Block]:
        return self.context.blocks

    @property
    def trace(self) -> Trace:
        return self.retrieval_trace


def read_answer(document: Mapping[str, Any], where: str) -> Answer:
    """The document as values.

    Args:
        document: A LookupResult as its JSON document.
        where: What it is, for the error.

    Raises:
        FixtureContract: Parts are missing or of another type, a key comes twice, or results and
            blocks disagree; the message names what.
    """
    try:
        answer = Answer.model_validate(document)
    except ValidationError as exc:
        raise FixtureContract(
            f"{where} is no LookupResult of this version: {_faults(exc)}."
        ) from exc
    _require_consistent(answer, where)
    return answer


def _require_consistent(answer: Answer, where: str) -> None:
    """A key comes once in a corpus, and the agent is given the blocks and nothing else."""
    keys = [(block.corpus, block.evidence_key) for block in answer.blocks]
    twice = next((key for at, (_, key) in enumerate(keys) if keys[at] in keys[:at]), None)
    if twice is not None:
        raise FixtureContract(f"{where} has two blocks {twice!r}: merge let them through.")
    shown = [(r.corpus, r.document_id, r.source, r.excerpt) for r in answer.results]
    if shown != [(b.corpus, b.evidence_key, b.source, b.content) for b in answer.blocks]:
        raise FixtureContract(f"{where} has other results than blocks.")


def _faults(exc: ValidationError) -> str:
    """Each part once, first the missing ones."""
    faults = exc.errors(include_url=False, include_input=False)
    missing = [_path(fault["loc"]) for fault in faults if fault["type"] == "missing"]
    wrong = [f"{_path(f['loc'])} {f['msg']}" for f in faults if f["type"] != "missing"]
    named = list(dict.fromkeys([*(f"{path} is missing" for path in missing), *wrong]))
    more = len(named) - SHOWN_FAULTS
    return "; ".join(named[:SHOWN_FAULTS]) + (f"; and {more} more" if more > 0 else "")


def _path(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc)
