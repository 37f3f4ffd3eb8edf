"""Golden cases, answers and verdicts for tests, made through the real readers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pincite.evaluation.answer import Answer, read_answer
from pincite.evaluation.cases import GoldenCase
from pincite.evaluation.verdict import Verdict, judge
from pincite.identity import chunk_key, text_sha256

Document = dict[str, Any]


def golden_case(case_id: str = "one", **fields: Any) -> GoldenCase:
    """A case; keys in camelCase."""
    given = {"id": case_id, "query": f"What of {case_id}?", **fields}
    return GoldenCase.model_validate_json(json.dumps(given))


def block(source: str = "docs/a.md", index: int = 0, **changes: Any) -> Document:
    """A block of a LookupResult: chunk ``index`` of the document that is the source."""
    content = changes.get("content", f"Chunk {index} of {source}.")
    return {
        "evidenceKey": chunk_key(source, index),
        "corpus": "docs",
        "generation": 1,
        "docId": source,
        "chunkIndex": index,
        "vectorId": chunk_key(source, index),
        "source": source,
        "title": "",
        "heading": "",
        "content": content,
        "charStart": 0,
        "charEnd": len(content),
        "trimmed": False,
        "contentSha256": text_sha256(content),
        "score": 0.5,
        "scores": {
            **{"dense": 0.5, "lexical": None, "fused": 0.5},
            **{"rerank": None, "trust": None, "sourceRank": None},
        },
        "hitReasons": ["dense"],
        "tokens": 5,
        **changes,
    }


def dropped(source: str, index: int, reason: str, stage: str | None = None) -> Document:
    """A candidate that fell out; the stage has the name of the reason unless given."""
    return {
        "evidenceKey": chunk_key(source, index),
        "corpus": "docs",
        "source": source,
        "stage": stage or reason,
        "reason": reason,
        "score": 0.25,
    }


def attempt(name: str = "UNFILTERED_VECTOR", outcome: str = "evidence") -> Document:
    """One pass of search."""
    return {
        "name": name,
        "corpus": "docs",
        "mode": "hybrid",
        "filter": "",
        "hitCount": 1,
        "topScore": 0.5,
        "latencyMs": 3,
        "outcome": outcome,
    }


def lookup_result(
    blocks: Sequence[Document] = (),
    dropped: Sequence[Document] = (),
    *,
    query: str = "What of one?",
    trace: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Document:
    """A LookupResult as its JSON document; ``trace`` changes keys of ``retrievalTrace``."""
    return {
        "query": query,
        "transformedQuery": query,
        "corpus": "docs",
        "kbScope": "rag-eval",
        "generation": 1,
        "traceId": "t-1",
        "evidenceStatus": "SUFFICIENT" if blocks else "NONE",
        "evidenceScore": None,
        "results": [_result(one) for one in blocks],
        "context": {
            "blocks": list(blocks),
            "tokenBudget": 3_000,
            "tokensUsed": sum(one["tokens"] for one in blocks),
        },
        "retrievalTrace": {
            "selectedAttempt": "UNFILTERED_VECTOR",
            "fallbackReason": None,
            "degradations": [],
            "attempts": [attempt()],
            "stages": [{"name": "search", "corpus": "docs", "in": 9, "out": 9, "latencyMs": 4}],
            "dropped": list(dropped),
            "latencyMs": 20,
            **(trace or {}),
        },
        "rerank": {
            "enabled": True,
            "applied": True,
            "reranker": "blend",
            "topSource": blocks[0]["source"] if blocks else None,
            "fallbackReason": None,
            "latencyMs": 1,
        },
        **changes,
    }


def answer(*given: Any, **changes: Any) -> Answer:
    """``lookup_result`` as values."""
    return read_answer(lookup_result(*given, **changes), "the answer")


def verdict(case: GoldenCase, *given: Any, **changes: Any) -> Verdict:
    """The real judgement on such an answer to the case."""
    return judge(case, answer(*given, query=case.query, **changes))


def _result(one: Document) -> Document:
    return {
        "document_id": one["evidenceKey"],
        "corpus": one["corpus"],
        "source": one["source"],
        "title": one["title"],
        "excerpt": one["content"],
        "score": one["score"],
        "hit_reasons": one["hitReasons"],
        "content_sha256": one["contentSha256"],
    }
