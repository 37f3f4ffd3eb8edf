"""What a report shows of foreign text: all of it, and nothing that acts."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pincite.evaluation.report.text import NOTHING, markdown, visible
from pincite.testing.evaluation_reports import HOSTILE

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
MARKED = st.text("\\`*_[](){}|~$#!<>&a1 \n\u202e", max_size=30)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("two\nlines", r"two\nlines"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),
        ("bell\x07 \x1b[31m", r"bell\x07 \x1b[31m"),
        ("line\u2028separator", r"line\u2028separator"),
        ("报销制度 é", "报销制度 é"),
        ("كم عدد", "كم عدد"),
        ("\U0001f468\u200d\U0001f467", "\U0001f468\u200d\U0001f467"),
    ],
)
def test_what_acts_is_escaped_and_what_is_read_stays(text: str, seen: str) -> None:
    assert visible(text) == seen


@given(TEXT)
def test_nothing_that_is_shown_acts(text: str) -> None:
    acting = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    left = [
        c for c in visible(text) if unicodedata.category(c) in acting and c not in "\u200c\u200d"
    ]
    assert left == []


def cell_of(text: str) -> str:
    """What a Markdown reader makes of a table with the text in its only body cell."""
    page = MarkdownIt("gfm-like", {"linkify": False}).render(
        f"| Head | Next |\n| --- | --- |\n| {markdown(text)} | end |\n"
    )
    cells = re.findall(r"<td>(.*?)</td>", page, re.DOTALL)
    assert len(cells) == 2, page
    return str(cells[0])


@given(TEXT | MARKED)
@example("__init__")
@example("![x](y) | `a` \\| b")
@example("&lt; <b>")
def test_a_cell_of_a_table_reads_as_the_text(text: str) -> None:
    assert "<" not in cell_of(text)
    assert html.unescape(cell_of(text)).split() == (visible(text).strip() or NOTHING).split()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_no_element(text: str) -> None:
    assert "<" not in cell_of(text)


def test_names_stay_readable_in_the_source() -> None:
    assert markdown("HIT_TOP1 document_cap 12") == "HIT_TOP1 document_cap 12"
    assert markdown("") == markdown("  ") == NOTHING
