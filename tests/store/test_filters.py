from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.errors import RequestInvalid
from pincite.store.filters import (
    And,
    Eq,
    Exists,
    Filter,
    Greater,
    In,
    JsonKey,
    Less,
    Missing,
    Ne,
    NotIn,
    Or,
    all_of,
    folded,
    matches,
    render,
)

ROW = {"doc_id": "a", "chunk_index": 2}
LEAVES: list[Filter] = [Eq("doc_id", "a"), Ne("doc_id", "a"), In("n", ()), NotIn("n", ())]
FILTERS = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.builds(
        lambda kind, parts: kind(tuple(parts)),
        st.sampled_from([And, Or]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)


def test_expressions_are_rendered_with_every_value_escaped() -> None:
    assert render(Eq("doc_id", 'a"\\\n\r\tb')) == 'doc_id == "a\\"\\\\\\n\\r\\tb"'
    assert render(In("chunk_index", (1, -2))) == "chunk_index in [1, -2]"
    assert render(NotIn("doc_id", ("a", "b"))) == 'doc_id not in ["a", "b"]'
    assert render(And((Less("n", 3), Or((Greater("n", 0), Ne("m", "x")))))) == (
        '(n < 3) and ((n > 0) or (m != "x"))'
    )


@pytest.mark.parametrize("column", ["", "a b", 'a"', "a == 1 or b", "1a", "a\n", "é", 'meta["x"]'])
def test_a_column_that_is_no_identifier_is_refused(column: str) -> None:
    for make in (Eq, Ne, Less, Greater):
        with pytest.raises(RequestInvalid, match="no identifier"):
            make(column, 1)
    with pytest.raises(RequestInvalid, match="no identifier"):
        In(column, ())


@pytest.mark.parametrize("value", [2**63, -(2**63), True, None, 1.5, "\ud800", b"x"])
def test_a_value_that_no_store_can_hold_is_refused(value: object) -> None:
    with pytest.raises(RequestInvalid, match="compares 'n' with"):
        Eq("n", value)  # type: ignore[arg-type]
    with pytest.raises(RequestInvalid, match="compares 'n' with"):
        NotIn("n", (1, value))  # type: ignore[arg-type]


def test_empty_parts_are_every_row_or_no_row() -> None:
    assert folded(None) is True
    assert folded(And(())) is True
    assert folded(Or(())) is False
    assert folded(In("n", ())) is False
    assert folded(NotIn("n", ())) is True
    assert folded(And((Eq("n", 1), And(())))) == Eq("n", 1)
    assert folded(Or((Eq("n", 1), NotIn("n", ())))) is True
    with pytest.raises(ValueError, match="no expression"):
        render(Or(()))


@given(FILTERS)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_folding_keeps_the_meaning(filter: Filter) -> None:
    simple = folded(filter)
    for row in (ROW, {"doc_id": "b"}, {}):
        expected = simple if isinstance(simple, bool) else matches(simple, row)
        assert matches(filter, row) is expected
    if not isinstance(simple, bool):
        assert "[]" not in render(simple)


def test_a_row_without_the_column_passes_only_the_negations() -> None:
    assert matches(Ne("x", "a"), ROW)
    assert matches(NotIn("x", ("a",)), ROW)
    for filter in (Eq("x", "a"), In("x", ("a",)), Less("x", 1), Greater("x", "a")):
        assert not matches(filter, ROW)


def test_a_conjunction_leaves_out_what_is_not_given() -> None:
    assert all_of([None, None]) is None
    assert all_of([None, Eq("a", 1)]) == Eq("a", 1)
    assert all_of([Eq("a", 1), Eq("b", 2)]) == And((Eq("a", 1), Eq("b", 2)))


TAG = JsonKey("meta", 'a "b\\')
PATH = 'meta["a \\"b\\\\"]'


@pytest.mark.parametrize(
    ("filter", "expression"),
    [
        (Eq(TAG, 'x"'), f'{PATH} == "x\\""'),
        (Greater(TAG, "x"), f'{PATH} > "x"'),
        (Ne(TAG, "x"), f'(not exists {PATH}) or ({PATH} != "x")'),
        (In(TAG, ("x",)), f'{PATH} == "x"'),
        (In(TAG, ("x", "y")), f'({PATH} == "x") or ({PATH} == "y")'),
        (NotIn(TAG, ("x", "y")), f'(not exists {PATH}) or (({PATH} != "x") and ({PATH} != "y"))'),
        (Exists(TAG), f"exists {PATH}"),
        (Missing(TAG), f"not exists {PATH}"),
        (And((Exists(TAG), Eq("n", 1))), f"(exists {PATH}) and (n == 1)"),
    ],
)
def test_a_json_key_is_escaped_and_a_missing_one_is_asked_for(
    filter: Filter, expression: str
) -> None:
    assert render(filter) == expression


@pytest.mark.parametrize("key", ["", "\n", "a\x00", "\ud800", "\u2028"])
def test_a_json_key_that_json_would_escape_is_refused(key: str) -> None:
    with pytest.raises(RequestInvalid, match="names the key"):
        JsonKey("meta", key)


@pytest.mark.parametrize("value", [1, True, None, "\ud800"])
def test_a_json_key_is_compared_as_text_only(value: object) -> None:
    with pytest.raises(RequestInvalid, match="compares"):
        Eq(TAG, value)  # type: ignore[arg-type]


def test_a_json_key_matches_by_the_text_that_stands_under_it() -> None:
    rows: list[dict[str, object]] = [
        {"meta": {TAG.key: "x"}},
        {"meta": '{"a \\"b\\\\": "y"}'},
        {"meta": {TAG.key: 1}},
        {"meta": {TAG.key: None}},
        {"meta": {}},
        {"meta": "[]"},
        {},
    ]
    cases: dict[Filter, list[int]] = {
        Eq(TAG, "x"): [0],
        In(TAG, ("x", "y")): [0, 1],
        Ne(TAG, "x"): [1, 2, 3, 4, 5, 6],
        NotIn(TAG, ("x", "y")): [2, 3, 4, 5, 6],
        Greater(TAG, "x"): [1],
        Exists(TAG): [0, 1, 2],
        Missing(TAG): [3, 4, 5, 6],
    }
    for filter, expected in cases.items():
        assert [n for n, row in enumerate(rows) if matches(filter, row)] == expected, filter
