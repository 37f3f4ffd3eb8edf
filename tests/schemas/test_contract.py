import math
import pickle

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pincite.errors import ContractViolation
from pincite.schemas.contract import Contract, Field
from pincite.schemas.rows import rows_contract

TABLE = Contract(
    name="things",
    version=3,
    key=("id",),
    fields=(
        Field("id", pa.string(), "which"),
        Field("size", pa.int64(), "bytes"),
        Field("body", pa.large_string(), "text"),
        Field("tags", pa.list_(pa.string()), "labels"),
        Field("score", pa.float32(), "cosine", nullable=True),
        Field("vector", pa.list_(pa.float32(), 2), "direction"),
    ),
)
ROW = {"id": "a", "size": 1, "body": "b", "tags": ["t"], "score": 0.5, "vector": [1.0, 0.0]}


def table(**columns: pa.Array) -> pa.Table:
    """A table of one row that fits, with these columns in place of its own."""
    fitting = TABLE.from_rows([ROW])
    kept = {name: fitting[name] for name in fitting.column_names}
    return pa.table({**kept, **columns})


def without(name: str) -> pa.Table:
    return TABLE.from_rows([ROW]).drop_columns(name)


def test_fitting_table_comes_back_as_it_is() -> None:
    fitting = TABLE.from_rows([ROW])
    assert TABLE.conform(fitting).equals(fitting)
    assert fitting.schema == TABLE.schema


def test_columns_come_back_in_the_contracts_order() -> None:
    shuffled = TABLE.from_rows([ROW]).select(list(reversed(TABLE.names)))
    assert TABLE.conform(shuffled).column_names == TABLE.names


def test_nullability_and_metadata_come_from_the_contract() -> None:
    given_table = table().replace_schema_metadata({"pandas": "{}"})
    assert TABLE.conform(given_table).schema.equals(TABLE.schema, check_metadata=True)


def test_empty_table_has_the_schema() -> None:
    assert TABLE.empty().schema == TABLE.schema
    assert TABLE.from_rows([]).equals(TABLE.empty())
    assert TABLE.conform(pa.table({name: [] for name in TABLE.names})).equals(TABLE.empty())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (without("size"), r"missing columns \['size'\]"),
        (table(extra=pa.array([1])), r"unknown columns \['extra'\]"),
        (table().append_column("id", pa.array(["a"])), r"repeated columns \['id'\]"),
        (table(id=pa.array([None], pa.string())), "things.id holds nulls"),
        (table(tags=pa.array([["a", None]])), "things.tags holds nulls"),
        (table(vector=pa.array([[1.0, None]], pa.list_(pa.float32(), 2))), "things.vector holds"),
        (table(vector=pa.array([None], pa.list_(pa.float32(), 2))), "things.vector holds nulls"),
        (table(size=pa.array([1.0])), "things.size is double"),
        (table(size=pa.array(["1"])), "things.size is string"),
        (table(size=pa.array([True])), "things.size is bool"),
        (table(id=pa.array([0])), "things.id is int64"),
        (table(id=pa.array([0.0])), "things.id is double"),
        (table(body=pa.array([b"b"])), "things.body is binary"),
        (table(tags=pa.array(["t"])), "things.tags is string"),
        (table(tags=pa.array([[1]])), "things.tags is list"),
        (table(score=pa.array([1])), "things.score is int64"),
        (table(size=pa.array([2**63], pa.uint64())), "does not cast"),
        (table(vector=pa.array([[1.0, 0.0, 0.0]])), "does not cast"),
    ],
)
def test_table_that_does_not_fit_is_refused(changed: pa.Table, words: str) -> None:
    with pytest.raises(ContractViolation, match=words):
        TABLE.conform(changed)


@pytest.mark.parametrize(
    "columns",
    [
        {"size": pa.array([1], pa.int32())},
        {"size": pa.array([1], pa.uint64())},
        {"id": pa.array(["a"], pa.large_string())},
        {"id": pa.array(["a"], pa.string_view())},
        {"id": pa.array(["a"]).dictionary_encode()},
        {"body": pa.array(["b"], pa.string())},
        {"tags": pa.array([["t"]], pa.large_list(pa.large_string()))},
        {"vector": pa.array([[1.0, 0.0]], pa.list_(pa.float64()))},
        {"score": pa.array([None], pa.float32())},
        {"score": pa.array([0.5], pa.float64())},
    ],
)
def test_another_layout_of_the_same_values_is_cast(columns: dict[str, pa.Array]) -> None:
    assert TABLE.conform(table(**columns)).schema == TABLE.schema


def test_not_a_number_is_for_the_expectations() -> None:
    conformed = TABLE.conform(table(score=pa.array([math.nan], pa.float32())))
    assert math.isnan(conformed["score"][0].as_py())


def test_null_outside_a_slice_does_not_count() -> None:
    vectors = pa.array([None, [1.0, 0.0]], pa.list_(pa.float32(), 2))
    assert TABLE.conform(table(vector=vectors.slice(1))).num_rows == 1


def test_input_is_not_changed() -> None:
    given_table = table(size=pa.array([1], pa.int32()), body=pa.array(["b"], pa.string()))
    before = pa.table({name: given_table[name] for name in given_table.column_names})
    TABLE.conform(given_table)
    assert given_table.equals(before)


@pytest.mark.parametrize(
    "change",
    [
        {"size": "many"},
        {"size": 1.5},
        {"size": 2**63},
        {"size": None},
        {"id": 5},
        {"id": "\ud800"},
        {"tags": "t"},
        {"tags": [None]},
        {"vector": [1.0]},
        {"vector": ["x", "y"]},
    ],
)
def test_row_that_does_not_fit_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ContractViolation, match="things"):
        TABLE.from_rows([ROW, {**ROW, **change}])


def test_row_without_a_column_is_refused() -> None:
    with pytest.raises(ContractViolation, match="'size'"):
        TABLE.from_rows([{name: value for name, value in ROW.items() if name != "size"}])


def test_violation_is_a_fault_with_a_code_of_its_own() -> None:
    with pytest.raises(ContractViolation) as caught:
        TABLE.conform(pa.table({}))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.code, str(again)) == ("CONTRACT_VIOLATION", str(caught.value))


def test_render_tells_types_nulls_and_meaning() -> None:
    lines = TABLE.render().splitlines()
    assert lines[0] == "things v3 key=id"
    assert lines[5] == "  score: float null: cosine"


def test_rows_are_chunks_with_a_key_and_a_vector() -> None:
    contract = rows_contract(384)
    assert contract.names[0] == "vector_id"
    assert contract.schema.field("embedding").type == pa.list_(pa.float32(), 384)


_CELLS = st.fixed_dictionaries(
    {
        "id": st.text(max_size=8).filter(lambda text: text.isprintable()),
        "size": st.integers(-(2**63), 2**63 - 1),
        "body": st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        "tags": st.lists(st.sampled_from(["", "é", "\0", "x"]), max_size=3),
        "score": st.none() | st.floats(width=32, allow_nan=False),
        "vector": st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=2),
    }
)


@given(st.lists(_CELLS, max_size=5))
@hypothesis_settings(max_examples=40, deadline=None)
def test_rows_come_back_out_as_they_went_in(rows: list[dict[str, object]]) -> None:
    made = TABLE.from_rows(rows)
    assert made.to_pylist() == rows
    assert TABLE.conform(made).equals(made)
