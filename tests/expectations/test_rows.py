"""The Great Expectations suite and the plain gate refuse the same rows for the same rules."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pincite.expectations.rows import judge as judge_by_suite
from pincite.gate import RULES, Limits, judge
from pincite.scopes import ALL, OWNER_IDS

LIMITS = Limits(dim=2, max_content_bytes=10)

GOOD = {
    "doc_id": "d",
    "chunk_index": 0,
    "evidence_key": "d#chunk-0",
    "vector_id": "d#chunk-0",
    "content": "text",
    "embedding": [0.6, 0.8],
    **dict.fromkeys(OWNER_IDS, ""),
}
TYPES = {"chunk_index": pa.int64(), "embedding": pa.list_(pa.float32())}


def table(*rows: dict) -> pa.Table:
    columns = {
        name: pa.array([row[name] for row in rows], TYPES.get(name, pa.string())) for name in GOOD
    }
    return pa.table(columns)


def broken_rules(verdict) -> dict[str, set[int]]:
    return {rule: set(rows) for rule, rows in verdict.broken.items() if rows}


def test_suite_knows_every_rule_of_the_gate():
    assert set(judge_by_suite(table(GOOD), LIMITS).broken) == set(RULES)


@pytest.mark.parametrize("judged", [judge, judge_by_suite])
def test_good_rows_pass(judged):
    rows = table(GOOD, {**GOOD, "chunk_index": 1, **_keys("d#chunk-1")})
    assert judged(rows, LIMITS).bad_rows == frozenset()


@pytest.mark.parametrize("judged", [judge, judge_by_suite])
def test_empty_table_is_refused(judged):
    with pytest.raises(ValueError, match="at least one row"):
        judged(table(), LIMITS)


MEMORY = dict.fromkeys(ALL["memory"], "x")


@pytest.mark.parametrize("judged", [judge, judge_by_suite])
@pytest.mark.parametrize(
    ("corpus", "ids", "fits"),
    [
        ("memory", MEMORY, True),
        ("memory", {**MEMORY, "conversation_id": ""}, False),
        ("memory", {**MEMORY, "conversation_id": " \u3000"}, False),
        ("memory", {**MEMORY, "user_id": None}, False),
        ("memory", {**MEMORY, "session_id": "s"}, False),
        ("memory", {}, False),
        ("web", {"session_id": "s"}, True),
        ("web", {"query_id": "q"}, True),
        ("web", {"session_id": "s", "query_id": "q"}, True),
        ("web", {"session_id": "s", "user_id": "u"}, False),
        ("web", {}, False),
    ],
)
def test_a_row_belongs_to_whom_its_corpus_asks_for(judged, corpus, ids, fits):
    found = judged(table({**GOOD, **ids}), replace(LIMITS, corpus=corpus))
    assert broken_rules(found) == ({} if fits else {"owner_fits_corpus": {0}})


def _keys(key):
    return {"evidence_key": key, "vector_id": key}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"doc_id": "", **_keys("#chunk-0")}, "doc_id_present"),
        ({"doc_id": None}, "doc_id_present"),
        ({"chunk_index": -1, **_keys("d#chunk--1")}, "chunk_index_not_negative"),
        ({"chunk_index": None}, "chunk_index_contiguous"),
        ({"chunk_index": 1, **_keys("d#chunk-1")}, "chunk_index_contiguous"),
        (_keys("other#chunk-0"), "evidence_key_derived"),
        (_keys("d#0.0"), "evidence_key_derived"),
        ({"vector_id": "d#chunk-1"}, "vector_id_is_evidence_key"),
        ({"vector_id": None}, "vector_id_is_evidence_key"),
        ({"content": ""}, "content_present"),
        ({"content": None}, "content_present"),
        ({"content": "中文中文"}, "content_fits"),
        ({"embedding": [1.0]}, "vector_width"),
        ({"embedding": None}, "vector_width"),
        ({"embedding": [math.nan, 1.0]}, "vector_finite_and_not_zero"),
        ({"embedding": [math.inf, 1.0]}, "vector_finite_and_not_zero"),
        ({"embedding": [0.0, 0.0]}, "vector_finite_and_not_zero"),
        ({"user_id": "u"}, "owner_fits_corpus"),
        ({"session_id": "s"}, "owner_fits_corpus"),
    ],
)
def test_each_fault_breaks_its_rule_in_both(change, rule):
    rows = table({**GOOD, **change})
    plain, suite = judge(rows, LIMITS), judge_by_suite(rows, LIMITS)
    assert 0 in plain.broken[rule]
    assert broken_rules(plain) == broken_rules(suite)


def test_equal_keys_break_uniqueness_in_both():
    rows = table(GOOD, GOOD)
    assert judge(rows, LIMITS).broken["evidence_key_unique"] == {0, 1}
    assert broken_rules(judge(rows, LIMITS)) == broken_rules(judge_by_suite(rows, LIMITS))


def test_batches_in_flight_are_judged_at_once():
    good = table(*({**GOOD, "chunk_index": i, **_keys(f"d#chunk-{i}")} for i in range(500)))
    bad = table({**GOOD, "content": ""})
    with ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(lambda rows: judge_by_suite(rows, LIMITS), [good, bad] * 4))
    assert [bool(verdict.bad_rows) for verdict in verdicts] == [False, True] * 4


ROW = st.fixed_dictionaries(
    {
        "doc_id": st.sampled_from(["d", "e", "", None]),
        "chunk_index": st.sampled_from([0, 1, 2, -1, None]),
        "evidence_key": st.sampled_from(["d#chunk-0", "d#chunk-1", "e#chunk-0", "", None]),
        "vector_id": st.sampled_from(["d#chunk-0", "d#chunk-1", None]),
        "content": st.sampled_from(["x", "", "long enough text", None]),
        "embedding": st.sampled_from(
            [[1.0, 0.0], [0.0, 0.0], [math.nan, 1.0], [math.inf, 0.0], [1.0], [], None]
        ),
        **{name: st.sampled_from(["", "x", " ", None]) for name in OWNER_IDS},
    }
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ROW, min_size=1, max_size=8))
def test_any_rows_get_one_verdict(rows):
    given_table = table(*rows)
    plain, suite = judge(given_table, LIMITS), judge_by_suite(given_table, LIMITS)
    assert broken_rules(plain) == broken_rules(suite)
