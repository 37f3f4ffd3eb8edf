"""The words of a question in a text: stems, pairs of characters, and never another text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.analysis import analyze
from pincite.serving.inspector.highlight import pieces, word_spans


def marked(text: str, *questions: str) -> list[str]:
    return [piece.text for piece in pieces(text, *questions) if piece.marked]


@pytest.mark.parametrize(
    ("text", "question", "wanted"),
    [
        ("Bees dance; a bee DANCED.", "dancing bees", ["Bees", "dance", "bee", "DANCED"]),
        ("The moon and the tides", "what is the moon", ["moon"]),
        ("差旅报销需要十天。", "差旅怎么报销？", ["差旅报销"]),
        ("出差人员的旅行报告", "差旅报销", []),
        ("他吃鱼。", "鱼", ["鱼"]),
        ("ＦＵＬＬ width ﬁle", "full file", ["ＦＵＬＬ", "ﬁle"]),
        ("cafe\u0301 au lait", "Café", ["cafe\u0301"]),
        ("GPT模型和BM25检索", "BM25检索", ["BM25检索"]),
        ("שלום עולם", "עולם", ["עולם"]),
        ("한국어 문서 검색", "문서", ["문서"]),
        ("nothing here", "", []),
        ("<script>alert(1)</script>", "script", ["script", "script"]),
    ],
)
def test_words_of_the_question_are_marked(text: str, question: str, wanted: list[str]) -> None:
    assert marked(text, question) == wanted


def test_words_of_each_question_are_marked() -> None:
    assert marked("red apples, blue plums", "apple", "plum") == ["apples", "plums"]


@given(st.text(), st.text())
def test_pieces_are_the_text(text: str, question: str) -> None:
    found = pieces(text, question)
    assert "".join(piece.text for piece in found) == text
    assert all(piece.text for piece in found)


@given(st.text(min_size=1))
def test_a_text_that_is_the_question_is_marked_if_it_has_words(text: str) -> None:
    assert bool(word_spans(text, text)) == bool(analyze(text))


@given(st.text(), st.text())
def test_spans_ascend_and_do_not_touch(text: str, question: str) -> None:
    ends = [0]
    for start, end in word_spans(text, question):
        assert start > ends[-1] or (start == 0 and len(ends) == 1)
        assert start < end <= len(text)
        ends.append(end)
