from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pymilvus.client.prepare import Prepare

from pincite.errors import StoreRejected
from pincite.store import packing
from pincite.store.native import native_layout
from pincite.store.packing import upsert_requests
from pincite.store.prepare import check_rows, over_limits, row_sizes, vectors
from pincite.testing.store_suite import DIM, SPEC, document, row, table

LAYOUT = native_layout(SPEC, full_text=True)


def test_a_request_is_the_one_that_the_client_would_build() -> None:
    rows = document("d", 3, metadata='{"a":[1,"é"]}')
    (made,) = upsert_requests("c", LAYOUT, rows)
    dicts = [
        {
            column.name: each.get("vector_id" if column.name == "chunk_id" else column.name, "")
            for column in LAYOUT.columns
        }
        | {"expires_at": 0, "embedding": np.asarray(each["embedding"], np.float32)}
        for each in rows.to_pylist()
    ]
    infos = [
        {"name": field.field_name, "type": field.type, "params": {}} for field in made.fields_data
    ]
    theirs = Prepare.row_upsert_param("c", dicts, "", infos)
    assert made == theirs


def test_requests_stay_below_the_limit_and_keep_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.concat_tables([document("d", 40), table(row("big", 0, content="x" * 60_000))])
    monkeypatch.setattr(packing, "MAX_REQUEST_BYTES", 10_000)
    requests = list(upsert_requests("c", LAYOUT, rows))
    keys = [key for made in requests for key in made.fields_data[0].scalars.string_data.data]
    assert keys == rows["vector_id"].to_pylist()
    assert len(requests) > 2
    assert requests[-1].num_rows == 1
    assert all(made.ByteSize() <= 10_000 for made in requests[:-1])


def test_the_size_of_a_row_is_not_underestimated() -> None:
    rows = document("d", 30, content="é" * 500, metadata='{"k":"v"}')
    (made,) = upsert_requests("c", LAYOUT, rows)
    assert made.ByteSize() <= row_sizes(rows).sum() < 3 * made.ByteSize()


def test_vectors_of_slices_and_of_several_chunks_keep_their_rows() -> None:
    whole = pa.concat_tables([document("a", 3), document("b", 3)])
    expected = np.asarray(whole["embedding"].to_pylist(), np.float32)
    assert (vectors(LAYOUT, whole) == expected).all()
    assert (vectors(LAYOUT, whole.slice(2, 3)) == expected[2:5]).all()
    assert vectors(LAYOUT, whole).shape == (6, DIM)


def test_values_over_their_limit_are_named_with_row_and_size() -> None:
    rows = table(row("a", 0), row("b", 0, title="é" * 4_097), row("c", 0, content="x" * 70_000))
    found = [tuple(over) for over in over_limits(LAYOUT, rows)]
    assert found == [
        ("b#chunk-0", "title", 8_194, 8_192),
        ("c#chunk-0", "content", 70_000, 65_535),
    ]


def test_nulls_are_refused() -> None:
    rows = document("d", 2)
    rows = rows.set_column(
        rows.schema.get_field_index("title"), "title", pa.array(["a", None], pa.string())
    )
    with pytest.raises(StoreRejected, match="hold nulls"):
        check_rows(LAYOUT, rows)
