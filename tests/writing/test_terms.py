from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.writing.terms import row_terms


def test_title_heading_and_content_follow_each_other() -> None:
    assert row_terms("Leases", "Runs", "Killed runs") == "leas run kill run"


def test_a_heading_does_not_repeat_the_title() -> None:
    assert row_terms("Store locks", "Store locks > Waiting", "Wait.") == "store lock wait wait"
    assert row_terms("", "A > B > Waiting", "") == "b wait"


def test_chinese_is_in_characters_and_pairs() -> None:
    assert row_terms("租约", "", "过期") == "租 约 租约 过 期 过期"


def test_nothing_to_say_is_no_words() -> None:
    assert row_terms("", "", " … ") == ""


def test_long_rows_are_cut_at_a_whole_word() -> None:
    text = row_terms("", "", "租约 " * 10_000)
    assert len(text.encode("utf-8")) in range(65_520, 65_536)
    assert set(text.split()) == {"租", "约", "租约"}
    exact = row_terms("", "", "x" * 32_767 + " " + "y" * 32_767 + " zzz")
    assert len(exact) == 65_535
    assert exact.endswith("y")
    assert row_terms("", "", "x" * 70_000 + " y") == ""


@given(st.text(), st.text(), st.text())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_words_are_joined_by_single_spaces(title: str, heading: str, content: str) -> None:
    terms = row_terms(title, heading, content)
    assert terms == " ".join(terms.split())
    assert len(terms.encode("utf-8")) <= 65_535
