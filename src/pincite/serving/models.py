"""What the HTTP API takes, with examples that work as they stand."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, WithJsonSchema
from pydantic.alias_generators import to_camel

from pincite.corpora.memory import MemoryInput
from pincite.scopes import OWNER_IDS

MAX_ITEMS = 100

LOOKUP_EXAMPLES: list[JsonValue] = [
    {"query": "How long is evidence kept?"},
    {
        "query": "Which airport is preferred?",
        "corpus": "docs,memory",
        "userId": "u-1",
        "assistantId": "a-1",
        "conversationId": "c-1",
        "returnN": 3,
        "mode": "hybrid",
    },
    {"query": "Milvus release notes", "corpus": "web", "sessionId": "s-1"},
]
MEMORY_EXAMPLES: list[JsonValue] = [
    {
        "items": [
            {
                "user_id": "u-1",
                "assistant_id": "a-1",
                "conversation_id": "c-1",
                "text": "Prefers flights from Lisbon airport.",
                "memory_type": "preference",
            }
        ]
    }
]
WEB_EXAMPLES: list[JsonValue] = [
    {
        "results": [
            {
                "session_id": "s-1",
                "query_id": "q-1",
                "url": "https://example.org/milvus/releases",
                "title": "Milvus release notes",
                "snippet": "What is new in each release of Milvus.",
                "source_rank": 1,
            }
        ]
    }
]
_WEB_FIELDS = {
    "session_id": {"type": "string", "description": "in which session it was found"},
    "query_id": {"type": "string", "description": "by which search"},
    "url": {"type": "string", "description": "http or https"},
    "title": {"type": "string"},
    "snippet": {"type": "string"},
    "content": {"type": "string", "description": "HTML or text; without it title and snippet"},
    "published_at": {"type": "string", "format": "date-time"},
    "fetched_at": {"type": "string", "format": "date-time"},
    "language": {"type": "string"},
    "source_rank": {"type": "integer", "minimum": 1},
}


def _item_schema() -> dict[str, Any]:
    """A memory item; its ids may come with the token or in headers instead."""
    schema = MemoryInput.model_json_schema()
    schema["required"] = [name for name in schema["required"] if name not in OWNER_IDS]
    return schema


MemoryItem = Annotated[dict[str, Any], WithJsonSchema(_item_schema())]
WebResult = Annotated[
    dict[str, Any],
    WithJsonSchema({"type": "object", "properties": _WEB_FIELDS, "required": ["url"]}),
]


class Body(BaseModel):
    """Keys in camelCase or snake_case; unknown ones are refused, nothing is converted."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        populate_by_name=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )


class LookupBody(Body):
    """A question. What is left out is as the settings say, or as the token is bound."""

    model_config = ConfigDict(json_schema_extra={"examples": LOOKUP_EXAMPLES})

    query: str = Field(description="the question, in any words")
    corpus: str | None = Field(None, description="docs, memory, web, or several between commas")
    kb_scope: str | None = Field(None, description="the only scope to look in")
    category: str | None = Field(None, description="category to try first")
    retrieve_k: int | None = Field(None, description="recall width of each leg")
    return_n: int | None = Field(None, description="evidence blocks returned")
    mode: Literal["dense", "lexical", "hybrid"] | None = Field(None, description="search legs")
    threshold: float | None = Field(None, description="least cosine of a candidate")
    max_sensitivity: int | None = Field(
        None, description="memory: the highest level returned; a setting is never raised"
    )
    user_id: str | None = Field(None, description="memory: whose")
    assistant_id: str | None = Field(None, description="memory: of which assistant")
    conversation_id: str | None = Field(None, description="memory: of which conversation")
    session_id: str | None = Field(None, description="web: of which session")
    query_id: str | None = Field(None, description="web: of which search")

    def options(self) -> dict[str, Any]:
        """What a lookup takes besides the query and the ids."""
        return self.model_dump(exclude={"query", *OWNER_IDS}, exclude_none=True)

    def ids(self) -> dict[str, str]:
        """The scope ids that are given."""
        return self.model_dump(include=set(OWNER_IDS), exclude_none=True)


class MemoryBody(Body):
    """Items to remember; ids that an item lacks come from the token or from headers."""

    model_config = ConfigDict(json_schema_extra={"examples": MEMORY_EXAMPLES})

    items: list[MemoryItem] = Field(description=f"1 to {MAX_ITEMS} items")
    kb_scope: str | None = Field(None, description="isolation label")


class WebBody(Body):
    """Search results to keep for a session; ids that one lacks come from token or headers."""

    model_config = ConfigDict(json_schema_extra={"examples": WEB_EXAMPLES})

    results: list[WebResult] = Field(description=f"1 to {MAX_ITEMS} results")
    kb_scope: str | None = Field(None, description="isolation label")


class CiteQuery(BaseModel):
    """What a citation is asked with; an unknown parameter would widen what is seen in silence."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    sha256: str | None = Field(None, description="contentSha256 of the text that was given")
    corpus: str | None = Field(None, description="the only corpus to look in")
    kb_scope: str | None = Field(None, description="the only scope to look in")
