"""The identity suite: the rules of ``pincite.gate`` as Great Expectations over the same measures.

Traps that the suite is built around: an empty frame passes every expectation, ``""`` passes
not-null, uniqueness and ranges ignore nulls. So a row count is asked for, lengths are asked for,
and every column is asked to be free of nulls.
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

RULES = "rules"
ROWS_PRESENT = "rows_present"


def suite(limits: Limits) -> list[Any]:
    """The expectations; each carries in ``meta`` the rules of the gate that it stands for."""
    return [
        gxe.ExpectTableRowCountToBeBetween(min_value=1, meta={RULES: (ROWS_PRESENT,)}),
        *_no_nulls(),
        gxe.ExpectColumnValueLengthsToBeBetween(
            column="doc_id", min_value=1, meta={RULES: ("doc_id_present",)}
        ),
        gxe.ExpectColumnValuesToBeBetween(
            column="chunk_index", min_value=0, meta={RULES: ("chunk_index_not_negative",)}
        ),
        _equal("chunk_index", "expected_index", "chunk_index_contiguous"),
        _equal("evidence_key", "expected_key", "evidence_key_derived"),
        _equal("vector_id", "evidence_key", "vector_id_is_evidence_key"),
        gxe.ExpectColumnValuesToBeUnique(
            column="evidence_key", meta={RULES: ("evidence_key_unique",)}
        ),
        gxe.ExpectColumnValuesToBeBetween(
            column="content_bytes", min_value=1, meta={RULES: ("content_present",)}
        ),
        gxe.ExpectColumnValuesToBeBetween(
            column="content_bytes",
            max_value=limits.max_content_bytes,
            meta={RULES: ("content_fits",)},
        ),
        gxe.ExpectColumnValuesToBeBetween(
            column="vector_length",
            min_value=limits.dim,
            max_value=limits.dim,
            meta={RULES: ("vector_width",)},
        ),
        gxe.ExpectColumnValuesToBeBetween(
            column="vector_norm",
            min_value=LEAST_NORM,
            max_value=GREATEST_NORM,
            meta={RULES: ("vector_finite_and_not_zero",)},
        ),
    ]


# Which rules cannot be answered where a column is null: the same as in the gate.
_NULL_BREAKS = {
    "doc_id": ("doc_id_present", "evidence_key_derived"),
    "chunk_index": (
        "chunk_index_not_negative",
        "chunk_index_contiguous",
        "evidence_key_derived",
    ),
    "evidence_key": (
        "evidence_key_derived",
        "vector_id_is_evidence_key",
        "evidence_key_unique",
    ),
    "vector_id": ("vector_id_is_evidence_key",),
    "content_bytes": ("content_present", "content_fits"),
    "vector_length": ("vector_width",),
    "vector_norm": ("vector_finite_and_not_zero",),
}


def _no_nulls() -> list[Any]:
    return [
        gxe.ExpectColumnValuesToNotBeNull(column=column, meta={RULES: rules})
        for column, rules in _NULL_BREAKS.items()
    ]


def _equal(left: str, right: str, rule: str) -> Any:
    return gxe.ExpectColumnPairValuesToBeEqual(
        column_A=left,
        column_B=right,
        ignore_row_if="either_value_is_missing",
        meta={RULES: (rule,)},
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
        batch = _batch_definition().get_batch(batch_parameters={"dataframe": frame})
        found = batch.validate(
            gx.ExpectationSuite(name="rows", expectations=suite(limits)),
            result_format={"result_format": "COMPLETE", "include_unexpected_rows": False},
        )
    broken: dict[str, set[int]] = {}
    for result in found.results:
        rules = result.expectation_config.meta[RULES]
        if result.exception_info and _raised(result.exception_info):
            raise RuntimeError(f"the expectation for {rules} could not be evaluated")
        if rules == (ROWS_PRESENT,):
            _require_rows(result.success)
            continue
        positions = result.result.get("unexpected_index_list") or ()
        for rule in rules:
            broken.setdefault(rule, set()).update(int(at) for at in positions)
    return Verdict(rows.num_rows, {rule: frozenset(at) for rule, at in broken.items()})


def _require_rows(present: bool) -> None:
    if not present:
        raise ValueError("the identity gate needs at least one row")


def _raised(info: dict[str, Any]) -> bool:
    entries = [info] if "raised_exception" in info else list(info.values())
    return any(entry.get("raised_exception") for entry in entries)
