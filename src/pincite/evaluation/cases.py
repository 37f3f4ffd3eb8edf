"""Golden cases: a question each, and what its answer must be. The JSON Schema is made of these.

A case asserts only what it names; one that names nothing could not fail and is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from pincite.identity import VECTOR_PREFIX, parse_chunk_key
from pincite.scopes import EVALUATION_SCOPE

Name = Annotated[str, Field(min_length=1, max_length=1_024)]
Names = Annotated[list[Name], Field(min_length=1)]
# It names the case's fixture file: no separator, no hidden file.
CaseId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Corpora = Annotated[str, Field(pattern=r"^[a-z]+(,[a-z]+)*$")]
Cosine = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Attempt = Literal["FILTERED_VECTOR", "UNFILTERED_VECTOR", "UNFILTERED_VECTOR_RETRY", "LEGACY"]
Status = Literal["SUFFICIENT", "WEAK", "NONE"]
FallbackReason = Literal[
    "filtered_vector_no_evidence", "filtered_vector_low_quality", "filtered_vector_failed"
]
DropReason = Literal["below_threshold", "duplicate", "document_cap", "return_n", "budget", "stale"]
HitReason = Literal["dense", "lexical", "category", "l0_category"]


# Stands where a person has to name the source.
EDIT_ME = "EDIT ME: the source that answers"


class _Strict(BaseModel):
    """Keys in camelCase, no other ones, no value made into another type."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", strict=True, frozen=True, serialize_by_alias=True
    )


class Asking(_Strict):
    """How a lookup is asked; what is left out is as the settings say."""

    corpus: Corpora = Field("docs", description="corpora to ask, between commas")
    kb_scope: str = Field(
        EVALUATION_SCOPE, max_length=256, description="the only scope; '' asks as a user would"
    )
    tags: list[Name] = Field(default=[], description="groups that figures are given for")
    category: str | None = Field(None, description="category to try first")
    mode: Literal["dense", "lexical", "hybrid"] | None = Field(None, description="search legs")
    retrieve_k: int | None = Field(None, ge=1, description="recall width of a leg")
    return_n: int | None = Field(None, ge=1, description="evidence blocks returned")
    threshold: Cosine | None = Field(None, description="least cosine of a candidate")
    low_quality: Cosine | None = Field(None, description="under it an attempt is weak")
    weak: Cosine | None = Field(None, description="under it the status is WEAK")
    user_id: str | None = Field(None, description="memory: whose")
    assistant_id: str | None = Field(None, description="memory: of which assistant")
    conversation_id: str | None = Field(None, description="memory: of which talk")
    session_id: str | None = Field(None, description="web: of which session")
    query_id: str | None = Field(None, description="web: of which search")

    def lookup_options(self) -> dict[str, Any]:
        """Keyword arguments of ``request_from_settings``; ``None`` is not given."""
        options = {name: getattr(self, name) for name in Asking.model_fields if name != "tags"}
        return {**options, "kb_scope": self.kb_scope or None}


class GoldenCase(Asking):
    """One question and what is expected of its answer.

    Relevant are the ``expected_evidence_keys``, or else every block of ``expected_sources``.
    """

    id: CaseId = Field(description="names the case and its fixture")
    query: Name = Field(description="the question")
    require: Literal["all", "any"] = Field(
        "all", description="how many of the expected ones must be returned"
    )
    expected_sources: Names | None = Field(None, description="sources that must be returned")
    expected_evidence_keys: Names | None = Field(None, description="chunks that must be returned")
    forbidden_sources: Names | None = Field(None, description="sources that must not be returned")
    answerable: bool | None = Field(
        None, description="false: the status must not be SUFFICIENT; true: it must not be NONE"
    )
    must_contain: Names | None = Field(None, description="texts that must stand in the blocks")
    must_not_contain: Names | None = Field(None, description="texts that must stand in no block")
    expected_selected_attempt: Attempt | None = Field(None, description="whose hits were used")
    expected_fallback_reason: FallbackReason | None = Field(
        None, description="why the retry was made"
    )
    expected_fallback_reasons: Annotated[list[FallbackReason], Field(min_length=1)] | None = Field(
        None, description="the same, any of these"
    )
    expected_evidence_status: Status | None = Field(None, description="the status itself")
    expected_context_sources: Names | None = Field(
        None, description="sources that the blocks must be of, beside any others"
    )
    expected_rerank_top_source: Name | None = Field(None, description="what the reranker put first")
    expected_hit_reasons: Annotated[list[HitReason], Field(min_length=1)] | None = Field(
        None, description="ways in which the best relevant block was found"
    )
    expected_dropped: Annotated[dict[Name, DropReason], Field(min_length=1)] | None = Field(
        None, description="evidence key or source: the reason for which it must fall out"
    )
    max_latency_ms: int | None = Field(None, ge=1, description="the whole lookup's time")

    @model_validator(mode="after")
    def _asserts_something(self) -> GoldenCase:
        named = [name for name in self.model_fields_set if getattr(self, name) is not None]
        if not set(named) - _NO_ASSERTION:
            raise ValueError("the case asserts nothing, so it could not fail")
        return self

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> GoldenCase:
        if self.expected_fallback_reason and self.expected_fallback_reasons:
            raise ValueError("give expectedFallbackReason or expectedFallbackReasons, not both")
        if self.expected_sources and self.expected_evidence_keys:
            raise ValueError(
                "give expectedSources or expectedEvidenceKeys, not both;"
                " expectedContextSources names sources beside keys"
            )
        for key in self.expected_evidence_keys or ():
            if parse_chunk_key(key) is None and not key.startswith(VECTOR_PREFIX):
                raise ValueError(f"{key!r} is no evidence key")
        for source in self.named_sources:
            if parse_chunk_key(source) is not None:
                raise ValueError(f"{source!r} is an evidence key, a source is wanted")
        if self.answerable is False and self.expected:
            raise ValueError("a case with expected sources or evidence keys is answerable")
        if self.answerable is False and self.expected_evidence_status == "SUFFICIENT":
            raise ValueError("a case that is not answerable cannot expect SUFFICIENT")
        if self.expected_hit_reasons and not self.expected:
            raise ValueError("expectedHitReasons is about expected sources or evidence keys")
        wanted = {*(self.expected_sources or ()), *(self.expected_context_sources or ())}
        both = wanted & set(self.forbidden_sources or ())
        if both:
            raise ValueError(f"{min(both)!r} is expected and forbidden")
        return self

    @property
    def expected(self) -> list[str]:
        """Evidence keys, or else sources, in the order given; empty where none are named."""
        return list(dict.fromkeys(self.expected_evidence_keys or self.expected_sources or []))

    @property
    def fallback_reasons(self) -> list[str]:
        """Any of these; empty where none are named."""
        one = self.expected_fallback_reason
        return [one] if one else list(self.expected_fallback_reasons or ())

    @property
    def named_sources(self) -> list[str]:
        """Every source that the case says is there."""
        tops = [self.expected_rerank_top_source] if self.expected_rerank_top_source else []
        named = (self.expected_sources, self.forbidden_sources, self.expected_context_sources, tops)
        return list(dict.fromkeys(source for given in named for source in given or ()))

    @property
    def named_documents(self) -> list[str]:
        """The ``doc_id`` of every chunk that the case expects."""
        keys = map(parse_chunk_key, self.expected_evidence_keys or ())
        return list(dict.fromkeys(key.doc_id for key in keys if key is not None))


# Names the case, or says how it is asked or counted.
_NO_ASSERTION = frozenset({*Asking.model_fields, "id", "query", "require"})


class SeedDocuments(_Strict):
    """The documents that the cases are about, kept beside them."""

    folder: Name = Field(description="relative to the file of the cases")
    source: Name = Field(EVALUATION_SCOPE, description="name of the folder in every doc_id")
    kb_scope: str = Field(EVALUATION_SCOPE, max_length=256, description="scope they are put into")


class CaseFile(_Strict):
    """A file of golden cases."""

    schema_: str | None = Field(None, alias="$schema", description="where the schema is; not read")
    documents: SeedDocuments | None = Field(None, description="what `pincite eval seed` imports")
    defaults: Asking = Field(default=Asking(), description="how every case is asked")
    cases: list[GoldenCase] = Field(min_length=1, description="the cases")


def json_schema() -> dict[str, Any]:
    """The published JSON Schema of a file of golden cases."""
    schema = CaseFile.model_json_schema()
    case = schema["$defs"]["GoldenCase"]
    named = set(case["properties"]) - {to_camel(name) for name in _NO_ASSERTION}
    case["anyOf"] = [{"required": [name]} for name in sorted(named)]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
