import json
from collections.abc import Callable
from typing import Any

from pincite.retrieval.candidates import Candidate
from pincite.retrieval.packing import Block
from pincite.retrieval.postprocess import Dropped
from pincite.retrieval.result import LookupResult
from pincite.retrieval.trace import Attempt, Trace

Make = Callable[..., Candidate]


def _result(*blocks: Block) -> LookupResult:
    trace = Trace("t-1", selected_attempt="UNFILTERED_VECTOR")
    trace.degrade("search", "hybrid_unsupported", "No hybrid search.")
    trace.attempts.append(Attempt("UNFILTERED_VECTOR", "dense", "", 1, 0.5, 3, "evidence"))
    trace.stage("search", 1, 1, 3)
    trace.dropped.append(Dropped("b#chunk-0", "docs", "return_n", None))
    return LookupResult("q ", "q", "docs", "", 1, "SUFFICIENT", blocks, 3_000, trace)


def test_the_json_has_exactly_the_keys_of_the_contract(make: Make) -> None:
    row = make("a", 2, content="whole 漢", title="A", source="docs/a.md", score=0.5, dense=0.5)
    result = _result(Block(row, "漢", 16, 17, True, 1))
    assert json.loads(result.to_json()) == {
        "query": "q ",
        "transformedQuery": "q",
        "corpus": "docs",
        "kbScope": "",
        "generation": 1,
        "traceId": "t-1",
        "evidenceStatus": "SUFFICIENT",
        "results": [
            {
                "document_id": "a#chunk-2",
                "corpus": "docs",
                "source": "docs/a.md",
                "title": "A",
                "excerpt": "漢",
                "score": 0.5,
                "hit_reasons": ["dense"],
                "content_sha256": row.content_sha256,
            }
        ],
        "context": {
            "blocks": [
                {
                    "evidenceKey": "a#chunk-2",
                    "corpus": "docs",
                    "generation": 1,
                    "docId": "a",
                    "chunkIndex": 2,
                    "vectorId": "a#chunk-2",
                    "source": "docs/a.md",
                    "title": "A",
                    "heading": "",
                    "content": "漢",
                    "charStart": 16,
                    "charEnd": 17,
                    "trimmed": True,
                    "contentSha256": row.content_sha256,
                    "score": 0.5,
                    "scores": {
                        "dense": 0.5,
                        "lexical": None,
                        "fused": None,
                        "rerank": None,
                        "trust": None,
                    },
                    "hitReasons": ["dense"],
                    "tokens": 1,
                }
            ],
            "tokenBudget": 3_000,
            "tokensUsed": 1,
        },
        "retrievalTrace": {
            "selectedAttempt": "UNFILTERED_VECTOR",
            "fallbackReason": None,
            "degradations": [
                {
                    "stage": "search",
                    "code": "hybrid_unsupported",
                    "message": "No hybrid search.",
                }
            ],
            "attempts": [
                {
                    "name": "UNFILTERED_VECTOR",
                    "mode": "dense",
                    "filter": "",
                    "hitCount": 1,
                    "topScore": 0.5,
                    "latencyMs": 3,
                    "outcome": "evidence",
                }
            ],
            "stages": [{"name": "search", "in": 1, "out": 1, "latencyMs": 3}],
            "dropped": [
                {"evidenceKey": "b#chunk-0", "corpus": "docs", "reason": "return_n", "score": None}
            ],
        },
        "rerank": {
            "enabled": False,
            "applied": False,
            "reranker": None,
            "topSource": None,
            "fallbackReason": "not_built",
            "latencyMs": 0,
        },
    }


def test_a_result_without_evidence_has_the_same_keys(make: Make) -> None:
    def shape(value: Any) -> Any:
        return {k: shape(v) for k, v in value.items()} if isinstance(value, dict) else None

    full = _result(Block(make("a"), "x", None, None, False, 1))
    assert shape(_result().as_dict()) == shape(full.as_dict())


def test_an_absent_identity_is_null(make: Make) -> None:
    (block,) = _result(Block(make(None), "x", None, None, False, 1)).as_dict()["context"]["blocks"]
    assert (block["docId"], block["chunkIndex"], block["charStart"]) == (None, None, None)
    assert block["evidenceKey"] == "vector:v0"
