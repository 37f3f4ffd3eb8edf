"""Opt-in assertions: each holds, fails with its stage, and says nothing when it is not made."""

from __future__ import annotations

import pytest

from pincite.evaluation.assertions import failed_assertions
from pincite.testing.evaluation import answer, attempt, block, dropped, golden_case

A, B = "docs/a.md", "docs/b.md"
RETRY = "UNFILTERED_VECTOR_RETRY"
FAILED = "filtered_vector_failed"


def failures(fields, *given, **changes):
    found = failed_assertions(golden_case(**fields), answer(*given, **changes))
    return [(one.assertion, one.stage, one.message) for one in found]


def retried(reason="filtered_vector_no_evidence"):
    attempts = [attempt("FILTERED_VECTOR", "no_evidence"), attempt(RETRY)]
    return {"selectedAttempt": RETRY, "fallbackReason": reason, "attempts": attempts}


def applied(top, *, done=True, reason=None):
    return {
        "enabled": True,
        "applied": done,
        "reranker": "blend",
        "topSource": top,
        "fallbackReason": reason,
        "latencyMs": 1,
    }


BOTH = [block(A, content="The lease runs out.", hitReasons=["dense", "lexical"]), block(B, 1)]

HOLDING = [
    ({"mustContain": ["lease runs", "Chunk 1"]}, {}),
    ({"mustNotContain": ["secret"]}, {}),
    ({"expectedSelectedAttempt": RETRY}, {"trace": retried()}),
    ({"expectedFallbackReason": "filtered_vector_no_evidence"}, {"trace": retried()}),
    ({"expectedFallbackReasons": [FAILED, "filtered_vector_no_evidence"]}, {"trace": retried()}),
    ({"expectedEvidenceStatus": "SUFFICIENT"}, {}),
    ({"expectedContextSources": [B, A]}, {}),
    ({"expectedRerankTopSource": B}, {"rerank": applied(B)}),
    ({"expectedSources": [A], "expectedHitReasons": ["lexical", "dense"]}, {}),
    ({"expectedDropped": {f"{A}#chunk-7": "return_n", "docs/c.md": "document_cap"}}, {}),
    ({"maxLatencyMs": 20}, {}),
    ({"answerable": True}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "changes"), HOLDING)
def test_what_holds_says_nothing(fields, changes):
    out = [dropped(A, 7, "return_n"), dropped("docs/c.md", 0, "document_cap")]
    assert failures(fields, BOTH, out, **changes) == []


@pytest.mark.parametrize(
    ("fields", "changes", "told"),
    [
        ({"mustContain": ["Lease"]}, {}, ("mustContain", "pack", "'Lease' stands in no block.")),
        (
            {"mustNotContain": ["runs out"]},
            {},
            ("mustNotContain", "chunk", f"'runs out' stands in the chunk {A}#chunk-0."),
        ),
        (
            {"expectedSelectedAttempt": RETRY},
            {},
            (
                "expectedSelectedAttempt",
                "search",
                f"{RETRY} was expected, UNFILTERED_VECTOR was used;"
                " attempts: UNFILTERED_VECTOR (evidence).",
            ),
        ),
        (
            {"expectedFallbackReason": "filtered_vector_failed"},
            {},
            (
                "expectedFallbackReason",
                "search",
                "filtered_vector_failed was expected, it is None.",
            ),
        ),
        (
            {"expectedFallbackReasons": ["filtered_vector_failed", "filtered_vector_low_quality"]},
            {"trace": retried()},
            (
                "expectedFallbackReasons",
                "search",
                "one of filtered_vector_failed, filtered_vector_low_quality was expected, it is"
                " filtered_vector_no_evidence.",
            ),
        ),
        (
            {"expectedEvidenceStatus": "WEAK"},
            {},
            ("expectedEvidenceStatus", "evidence", "WEAK was expected, it is SUFFICIENT."),
        ),
        (
            {"expectedContextSources": [A, "docs/c.md"]},
            {},
            (
                "expectedContextSources",
                "document_cap",
                "docs/c.md was found and dropped at document_cap (document_cap).",
            ),
        ),
        (
            {"expectedRerankTopSource": B},
            {},
            ("expectedRerankTopSource", "rerank", f"{B} was expected, it put {A} first."),
        ),
        (
            {"expectedRerankTopSource": B},
            {"rerank": applied(B, done=False, reason="reranker_timeout")},
            (
                "expectedRerankTopSource",
                "rerank",
                f"{B} was expected, no reranker was applied (reranker_timeout).",
            ),
        ),
        (
            {"expectedSources": [B], "expectedHitReasons": ["dense", "lexical"]},
            {},
            ("expectedHitReasons", "search", f"{B}#chunk-1 was not found by lexical."),
        ),
        (
            {"expectedSources": ["docs/z.md"], "expectedHitReasons": ["dense"]},
            {},
            ("expectedHitReasons", "search", "No expected block was returned."),
        ),
        (
            {"expectedDropped": {A: "document_cap"}},
            {},
            (
                "expectedDropped",
                "document_cap",
                f"{A} was to be dropped by document_cap, but: return_n.",
            ),
        ),
        (
            {"expectedDropped": {B: "below_threshold"}},
            {},
            (
                "expectedDropped",
                "threshold",
                f"{B} was to be dropped by below_threshold, but: returned.",
            ),
        ),
        (
            {"expectedDropped": {"docs/z.md": "budget"}},
            {},
            (
                "expectedDropped",
                "pack",
                "docs/z.md was to be dropped by budget, but: not found by the search.",
            ),
        ),
        (
            {"answerable": True},
            {"evidenceStatus": "NONE"},
            ("answerable", "evidence", "Evidence is expected, it is NONE."),
        ),
        (
            {"answerable": False},
            {
                "evidenceStatus": "NONE",
                "trace": {
                    "attempts": [],
                    "degradations": [
                        {"stage": "lookup", "corpus": "docs", "code": "rag_disabled", "message": ""}
                    ],
                },
            },
            ("query", "search", "Nothing was searched (rag_disabled)."),
        ),
        ({"maxLatencyMs": 19}, {}, ("maxLatencyMs", "lookup", "It took longer than 19 ms.")),
    ],
)
def test_what_does_not_hold_names_the_stage_and_what_was_seen(fields, changes, told):
    out = [dropped(A, 7, "return_n"), dropped("docs/c.md", 0, "document_cap")]
    assert failures(fields, BOTH, out, **changes) == [told]


def test_all_failures_are_told_in_one_order():
    fields = {"mustContain": ["x", "y"], "expectedEvidenceStatus": "NONE", "maxLatencyMs": 1}
    names = [name for name, _, _ in failures(fields, BOTH)]
    assert names == ["mustContain", "mustContain", "expectedEvidenceStatus", "maxLatencyMs"]
