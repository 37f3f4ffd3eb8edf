"""The shapes in which endpoints speak ``POST /rerank``, as data.

After the references or sources of the endpoints themselves: Cohere's API v2, Jina's API v1, vLLM's
pooling protocol, Hugging Face's text-embeddings-inference (TEI).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pincite.errors import ConfigInvalid, RerankingInvalid
from pincite.retrieval.rerank.calling import parsed
from pincite.retrieval.rerank.port import Ranked
from pincite.retrieval.rerank.scores import as_index, as_score


@dataclass(frozen=True)
class Dialect:
    """One shape.

    Attributes:
        texts: Name of the field that holds the passages.
        score: Name of the field that holds a result's score.
        results: Name of the field that holds the results; ``""``: the answer is their list.
        several_models: Whether the request names a model and how many results are wanted.
        options: Fields that every request has.
    """

    texts: str
    score: str
    results: str
    several_models: bool
    options: Mapping[str, Any] = field(default_factory=dict)


COHERE = Dialect("documents", "relevance_score", "results", several_models=True)

DIALECTS = {
    "cohere": COHERE,
    # Cohere's shape. Unless told to cut, vLLM refuses all for one passage that is too long; -1 is
    # the model's own limit.
    "vllm": Dialect(
        "documents",
        "relevance_score",
        "results",
        several_models=True,
        options={"truncate_prompt_tokens": -1},
    ),
    "tei": Dialect("texts", "score", "", several_models=False, options={"truncate": True}),
}


def dialect_of(name: str) -> Dialect:
    """The dialect of this name.

    Raises:
        ConfigInvalid: There is none.
    """
    if name not in DIALECTS:
        known = ", ".join(map(repr, DIALECTS))
        raise ConfigInvalid(f"[rag.reranker] api is {name!r}.", f"Set it to one of {known}.")
    return DIALECTS[name]


def request_body(dialect: Dialect, model: str, query: str, texts: Sequence[str]) -> dict[str, Any]:
    """What is sent: the query, the texts in order, and that a score is wanted for all of them."""
    body = {"query": query, dialect.texts: list(texts), **dialect.options}
    if not dialect.several_models:
        return body
    named = {"model": model} if model else {}
    return {**named, **body, "top_n": len(texts)}


def read_results(dialect: Dialect, answer: bytes) -> list[Ranked]:
    """The results of an answer, in its order.

    Raises:
        RerankingInvalid: The answer has another shape, or a value another type.
    """
    value = parsed(answer)
    if dialect.results:
        value = value.get(dialect.results) if isinstance(value, dict) else None
    if not isinstance(value, list):
        raise RerankingInvalid("The reranker answers without a list of results.")
    return [_ranked(row, dialect.score) for row in value]


def _ranked(row: Any, score_name: str) -> Ranked:
    fields = row if isinstance(row, dict) else {}
    index, score = as_index(fields.get("index")), as_score(fields.get(score_name))
    if index is None or score is None:
        raise RerankingInvalid(
            f"A result of the reranker lacks an integer 'index' or a number {score_name!r}."
        )
    return Ranked(index, score)
