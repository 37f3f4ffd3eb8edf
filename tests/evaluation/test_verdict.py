"""What became of the expected evidence, and the words for it."""

from __future__ import annotations

import pytest

from pincite.evaluation.verdict import GOOD, Hit
from pincite.testing.evaluation import block, dropped, golden_case, verdict

A, B, C = "docs/a.md", "docs/b.md", "docs/c.md"


def case(**fields):
    return golden_case(**fields)


@pytest.mark.parametrize(
    ("fields", "blocks", "out", "hit", "rank"),
    [
        ({"expectedSources": [A]}, [block(A)], [], Hit.TOP1, 1),
        ({"expectedSources": [A]}, [block(B), block(A, 3)], [], Hit.RETURNED, 2),
        ({"expectedSources": [A, B]}, [block(B), block(A)], [], Hit.TOP1, 1),
        ({"expectedSources": [A, B]}, [block(C), block(A)], [], Hit.PARTIAL, 2),
        ({"expectedSources": [A, B], "require": "any"}, [block(C), block(A)], [], Hit.RETURNED, 2),
        ({"expectedSources": [A]}, [block(B)], [dropped(A, 0, "return_n")], Hit.DROPPED, None),
        ({"expectedSources": [A]}, [block(B)], [dropped(B, 1, "return_n")], Hit.NOT_RECALLED, None),
        ({"expectedSources": [A]}, [], [], Hit.NOT_RECALLED, None),
        ({"expectedEvidenceKeys": [f"{A}#chunk-1"]}, [block(A, 1)], [], Hit.TOP1, 1),
        ({"expectedEvidenceKeys": [f"{A}#chunk-1"]}, [block(A, 0)], [], Hit.NOT_RECALLED, None),
        (
            {"expectedEvidenceKeys": [f"{A}#chunk-1", f"{A}#chunk-0"]},
            [block(A, 0), block(B), block(A, 1)],
            [],
            Hit.TOP1,
            1,
        ),
        ({"forbiddenSources": [A]}, [block(B)], [], Hit.FORBIDDEN_ABSENT_OK, None),
        ({"forbiddenSources": [A]}, [block(B), block(A)], [], Hit.FORBIDDEN, None),
        (
            {"expectedSources": [B], "forbiddenSources": [A]},
            [block(B), block(A)],
            [],
            Hit.FORBIDDEN,
            1,
        ),
        ({"forbiddenSources": [A]}, [block(B)], [dropped(A, 0, "return_n")],
         Hit.FORBIDDEN_ABSENT_OK, None),
        ({"answerable": False}, [], [], Hit.NO_EVIDENCE_OK, None),
        ({"answerable": False}, [block(A)], [], Hit.UNEXPECTED, None),
        ({"expectedEvidenceStatus": "NONE"}, [], [], Hit.NO_EVIDENCE_OK, None),
        ({"mustContain": ["Chunk"]}, [block(A)], [], Hit.NOT_JUDGED, None),
    ],
)  # fmt: skip
def test_the_hit_of_an_answer(fields, blocks, out, hit, rank):
    found = verdict(case(**fields), blocks, out)
    assert (found.hit, found.rank) == (hit, rank)
    assert found.passed == (hit in GOOD)
    assert bool(found.failures) == (hit not in GOOD)


def test_blocks_where_none_may_be_are_told_by_the_key_that_the_case_names():
    found = verdict(case(expectedEvidenceStatus="NONE"), [block(A)], evidenceStatus="NONE")
    (failure,) = found.failures
    assert (found.hit, failure.assertion) == (Hit.UNEXPECTED, "expectedEvidenceStatus")


def test_weak_evidence_for_a_question_without_an_answer_is_right():
    found = verdict(case(answerable=False), [block(A)], evidenceStatus="WEAK")
    assert found.hit is Hit.NO_EVIDENCE_OK


def test_a_source_keeps_its_own_fate_beside_other_chunks_of_it():
    keys = [f"{A}#chunk-0", f"{A}#chunk-1", f"{A}#chunk-2"]
    out = [dropped(A, 1, "document_cap")]
    found = verdict(case(expectedEvidenceKeys=keys), [block(A, 0)], out)
    assert [(f.rank, f.stage, f.reason) for f in found.fates] == [
        (1, "returned", "returned"),
        (None, "document_cap", "document_cap"),
        (None, "search", "not_recalled"),
    ]
    assert [failure.message for failure in found.failures] == [
        f"{A}#chunk-1 was found and dropped at document_cap (document_cap).",
        f"{A}#chunk-2 was not found by the search.",
    ]
    assert [(failure.stage, failure.reason) for failure in found.failures] == [
        ("document_cap", "document_cap"),
        ("search", "not_recalled"),
    ]


def test_a_source_dropped_twice_fell_out_where_it_came_furthest():
    out = [dropped(A, 0, "below_threshold", "threshold"), dropped(A, 1, "budget", "pack")]
    found = verdict(case(expectedSources=[A]), [], out)
    (failure,) = found.failures
    assert (failure.stage, failure.reason) == ("pack", "budget")
