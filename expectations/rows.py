"""The identity suite: the rules of ``pincite.gate`` as Great Expectations over the same measures.

Traps that the suite is built around: an empty frame passes every expectation, ``""`` passes
not-null, and most expectations pass over nulls. So a row count and lengths are asked for, and the
measures hold no null.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Any

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")

import great_expectations as gx
import great_expectations.expectations as gxe
import pandas as pd
import pyarrow as pa

from pincite.gate import GREATEST_NORM, LEAST_NORM, Limits, Verdict, measures

# A context evaluates one batch at a time: in two threads at once, expectations raise.
_one_at_a_time = threading.Lock()

RULE = "rule"
ROWS_PRESENT = "rows_present"


def suite(limits: Limits) -> list[Any]:
    """The expectations; each carries in ``meta`` the rule of the gate that it stands for."""
    return [
        gxe.ExpectTableRowCountToBeBetween(min_value=1, meta={RULE: ROWS_PRESENT}),
        gxe.ExpectColumnValueLengthsToBeBetween(
            column="doc_id", min_value=1, meta={RULE: "doc_id_present"}
        ),
        gxe.ExpectColumnValuesToBeBetween(
            column="chunk_index", min_value=0, meta={RULE: "chunk_index_not_negative"}
        ),
        _equal("chunk_index", "expected_index", "chunk_index_contiguous"),
        _equal("evidence_key", "expected_key", "evidence_key_derived"),
        _equal("vector_id", "evidence_key", "vector_id_is_evidence_key"),
        gxe.ExpectColumnValuesToBeUnique(column="evidence_key", meta={RULE: "evidence_key_unique"}),
        gxe.ExpectColumnValuesToBeBetween(
            column="content_bytes", min_value=1, meta={RULE: "content_present"}
        ),
        gxe.ExpectColumnValuesToBeBetween(
            column="content_bytes",
            max_value=limits.max_content_bytes,
            meta={RULE: "content_fits"},
        ),
        gxe.ExpectColumnValuesToBeBetween(
            column="vector_length",
            min_value=limits.dim,
            max_value=limits.dim,
            meta={RULE: "vector_width"},
        ),
        gxe.ExpectColumnValuesToBeBetween(
            column="vector_norm",
            min_value=LEAST_NORM,
            max_value=GREATEST_NORM,
            meta={RULE: "vector_finite_and_not_zero"},
        ),
        gxe.ExpectColumnValuesToBeInSet(
            column="owner", value_set=[limits.corpus], meta={RULE: "owner_fits_corpus"}
        ),
    ]


def _equal(left: str, right: str, rule: str) -> Any:
    return gxe.ExpectColumnPairValuesToBeEqual(
        column_A=left,
        column_B=right,
        ignore_row_if="either_value_is_missing",
        meta={RULE: rule},
    )


@cache
def _batch_definition() -> Any:
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_pandas("arrow")
    return source.add_dataframe_asset("rows").add_batch_definition_whole_dataframe("batch")


def judge(rows: pa.Table, limits: Limits) -> Verdict:
    """The verdict of the suite, in the form of ``pincite.gate.judge``.

    Raises:
        ValueError: There is no row.
    """
    frame = measures(rows).to_pandas(types_mapper=pd.ArrowDtype)
    with _one_at_a_time:
        # Finding the rows that break a rule doubles the cost, so it is asked only where some do.
        found = _validated(frame, limits, "BOOLEAN_ONLY")
        if not found.success:
            found = _validated(frame, limits, "COMPLETE")
    broken: dict[str, frozenset[int]] = {}
    for result in found.results:
        rule = result.expectation_config.meta[RULE]
        if result.exception_info and _raised(result.exception_info):
            raise RuntimeError(f"the expectation for {rule!r} could not be evaluated")
        if rule == ROWS_PRESENT:
            _require_rows(result.success)
            continue
        positions = result.result.get("unexpected_index_list") or ()
        broken[rule] = frozenset(int(at) for at in positions)
    return Verdict(rows.num_rows, broken)


def _validated(frame: pd.DataFrame, limits: Limits, result_format: str) -> Any:
    batch = _batch_definition().get_batch(batch_parameters={"dataframe": frame})
    return batch.validate(
        gx.ExpectationSuite(name="rows", expectations=suite(limits)),
        result_format={"result_format": result_format, "include_unexpected_rows": False},
    )


def _require_rows(present: bool) -> None:
    if not present:
        raise ValueError("the identity gate needs at least one row")


def _raised(info: dict[str, Any]) -> bool:
    entries = [info] if "raised_exception" in info else list(info.values())
    return any(entry.get("raised_exception") for entry in entries)
