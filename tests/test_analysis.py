"""Terms of full-text search."""

from __future__ import annotations

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.analysis import analyze
from pincite.recipe import ROW_SCHEMA_VERSION


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Running the tests", ["run", "test"]),
        ("What is the LEASE?", ["leas"]),
        ("Milvus 2.5", ["milvus", "2", "5"]),
        ("向量库", ["向", "量", "库", "向量", "量库"]),
        ("用Python写", ["用", "python", "写"]),
        ("ﬁne ＡＢＣ", ["fine", "abc"]),
        ("的 the 什么", ["什", "么"]),
        ("", []),
        ("--- ...", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


def test_forms_of_a_word_meet() -> None:
    assert analyze("leases") == analyze("Lease") == analyze("leasing")


@given(st.text())
def test_every_term_is_one_word(text: str) -> None:
    assert all(re.fullmatch(r"\S+", term) for term in analyze(text))


def test_threads_do_not_disturb_each_other() -> None:
    words = [f"running{'s' * (i % 3)} testing{i}" for i in range(500)]
    alone = [analyze(word) for word in words]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(analyze, words)) == alone


def test_rows_and_queries_are_analysed_alike_for_a_whole_row_schema() -> None:
    # Recorded: terms are stored in rows. Whoever changes them raises recipe.ROW_SCHEMA_VERSION too.
    text = "The Leases of Writers' homes: naïve Ⅳ ﬁles, " + (
        "向量数据库 用Python写的 ２０２６, カタカナ, x_y-z's"
    )
    digest = hashlib.sha256(" ".join(analyze(text)).encode()).hexdigest()
    assert (ROW_SCHEMA_VERSION, digest[:16]) == (2, "f654331eb75f8555")
