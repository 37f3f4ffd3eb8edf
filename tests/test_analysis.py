"""Terms of full-text search."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.analysis import analyze


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
