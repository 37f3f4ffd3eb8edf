import json
from collections.abc import Callable
from typing import Any

import pytest

from pincite.retrieval.candidates import Candidate
from pincite.retrieval.packing import Block
from pincite.retrieval.result import LookupResult, Rerank
from pincite.retrieval.trace import Attempt, Dropped, Trace

Make = Callable[..., Candidate]


def _result(*blocks: Block, **fields: Any) -> LookupResult:
    trace = Trace("docs")
    trace.selected_attempt = "UNFILTERED_VECTOR"
    trace.degrade("search", "hybrid_unsupported", "The lexical leg failed.")
    trace.attempts.append(Attempt("UNFILTERED_VECTOR", "docs", "dense", "", 1, 0.5, 3, "evidence"))
    trace.stage("search", 1, 1, 3)
    trace.dropped.append(Dropped("return_n", "b#chunk-0", "docs", "docs/b.md", "return_n", None))
    values: dict[str, Any] = {
        "query": "q ",
        "transformed_query": "q",
        "corpus": "docs",
        "kb_scope": "",
        "generation": 1,
        "evidence_status": "SUFFICIENT",
        "blocks": blocks,
        "token_budget": 3_000,
        "trace": trace,
        "trace_id": "t-1",
    }
    return LookupResult(**{**values, **fields})


def _block(candidate: Candidate, **fields: Any) -> Block:
    values = {"content": "x", "char_start": None, "char_end": None, "trimmed": False, "tokens": 1}
    return Block(candidate, **{**values, **fields})


def test_the_json_has_exactly_the_keys_of_the_contract(make: Make) -> None:
    row = make("a", 2, content="whole 漢", title="A", source="docs/a.md", score=0.5, dense=0.5)
    result = _result(Block(row, "漢", 16, 17, True, 1), evidence_score=0.75)
    assert json.loads(result.to_json()) == {
        "query": "q ",
        "transformedQuery": "q",
        "corpus": "docs",
        "kbScope": "",
        "generation": 1,
        "traceId": "t-1",
        "evidenceStatus": "SUFFICIENT",
        "evidenceScore": 0.75,
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
                        "sourceRank": None,
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
                    "corpus": "docs",
                    "code": "hybrid_unsupported",
                    "message": "The lexical leg failed.",
                }
            ],
            "attempts": [
                {
                    "name": "UNFILTERED_VECTOR",
                    "corpus": "docs",
                    "mode": "dense",
                    "filter": "",
                    "hitCount": 1,
                    "topScore": 0.5,
                    "latencyMs": 3,
                    "outcome": "evidence",
                }
            ],
            "stages": [{"name": "search", "corpus": "docs", "in": 1, "out": 1, "latencyMs": 3}],
            "dropped": [
                {
                    "evidenceKey": "b#chunk-0",
                    "corpus": "docs",
                    "source": "docs/b.md",
                    "stage": "return_n",
                    "reason": "return_n",
                    "score": None,
                }
            ],
            "latencyMs": 0,
        },
        "rerank": {
            "enabled": False,
            "applied": False,
            "reranker": None,
            "topSource": None,
            "fallbackReason": None,
            "latencyMs": 0,
        },
    }


def test_all_scores_and_reasons_of_a_block_are_told(make: Make) -> None:
    scores = {"dense": 0.1, "lexical": 2.0, "fused": 0.03, "rerank": 4.5, "trust": 0.9}
    reasons = ("dense", "lexical", "l0_category")
    row = make("a", **scores, source_rank=0.25, score=4.5, hit_reasons=reasons)
    (block,) = _result(_block(row)).as_dict()["context"]["blocks"]
    assert (block["scores"], block["score"]) == ({**scores, "sourceRank": 0.25}, 4.5)
    assert block["hitReasons"] == ["dense", "lexical", "l0_category"]


def test_a_result_without_evidence_has_the_same_keys(make: Make) -> None:
    def shape(value: Any) -> Any:
        return {k: shape(v) for k, v in value.items()} if isinstance(value, dict) else None

    full = _result(_block(make("a")))
    assert shape(_result().as_dict()) == shape(full.as_dict())


def test_an_absent_identity_is_null(make: Make) -> None:
    (block,) = _result(_block(make(None, generation=None))).as_dict()["context"]["blocks"]
    assert (block["docId"], block["chunkIndex"], block["charStart"]) == (None, None, None)
    assert (block["evidenceKey"], block["generation"]) == ("vector:v0", None)


def test_the_projection_has_each_key_of_a_corpus_once_in_order_of_rank(make: Make) -> None:
    blocks = [
        _block(make("a"), content="best"),
        _block(make("b"), content="second"),
        _block(make("a"), content="again"),
        _block(make("a", corpus="web"), content="of the web"),
    ]
    shown = [(one["corpus"], one["excerpt"]) for one in _result(*blocks).results]
    assert shown == [("docs", "best"), ("docs", "second"), ("web", "of the web")]


def test_tokens_used_are_those_of_all_blocks(make: Make) -> None:
    blocks = [_block(make("a"), tokens=3), _block(make("b"), tokens=4)]
    assert _result(*blocks).as_dict()["context"]["tokensUsed"] == 7


def test_characters_stay_as_they_are_and_a_number_that_json_lacks_is_refused(make: Make) -> None:
    assert "漢 🙂" in _result(_block(make("a"), content="漢 🙂")).to_json()
    with pytest.raises(ValueError):
        _result(_block(make("a", score=float("nan")))).to_json()


def test_what_the_reranker_did_is_told() -> None:
    rerank = Rerank(True, False, "blend", "docs/a.md", "rerank_timeout", 1_200)
    assert _result(rerank=rerank).as_dict()["rerank"] == {
        "enabled": True,
        "applied": False,
        "reranker": "blend",
        "topSource": "docs/a.md",
        "fallbackReason": "rerank_timeout",
        "latencyMs": 1_200,
    }
