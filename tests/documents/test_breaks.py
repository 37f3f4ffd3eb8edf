import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.documents.breaks import best_cut, cluster_end, grapheme_floor, near_start, skip_space

JOINED = st.lists(
    st.sampled_from([
        "a", " ", "\r", "\n", "é", "\u0301", "\u200d", "👨", "🇩", "क", "्", "ष", "각", "ᄀ", "ᅡ", "ำ",
        "\u0600", "\ufe0f", "👍🏽", "中", "\x07",
    ]),
    max_size=30,
).map("".join)  # fmt: skip


@given(JOINED, st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_grapheme_floor_agrees_with_a_scan_from_the_start(text: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(text)))
    ends = [0, *(match.end() for match in regex.finditer(r"\X", text))]
    assert grapheme_floor(text, index, 0) == max(end for end in ends if end <= index)


def test_cluster_end_is_one_past_the_joined_characters() -> None:
    assert cluster_end("a👨‍👩‍👧b", 1) == 6
    assert cluster_end("a", 1) == 1


def test_skip_space_stops_at_text_or_the_end() -> None:
    assert (skip_space("a \n\u3000b", 1), skip_space("a  ", 1)) == (4, 3)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("aaa. bbb\n\nccc ddd", "\n\nccc ddd"),
        ("aaa.\n \nbbb", "\n \nbbb"),
        ("aaa. bbb ccc", " bbb ccc"),
        ('aaa." bbb ccc', " bbb ccc"),
        ("中文。」后文", "后文"),
        ("aaa.bbb ccc", "ccc"),
        ("aaa bbb", "bbb"),
        ("aaa", None),
    ],
)
def test_strongest_and_latest_break_is_taken(text: str, rest: str | None) -> None:
    cut = best_cut(text, 1, len(text) - 1, [])
    assert (None if cut is None else text[cut:]) == rest


def test_heading_wins_over_all() -> None:
    text = "aaa\n# B\nccc.\n\nddd"
    assert best_cut(text, 1, len(text) - 1, [4]) == 4
    assert best_cut(text, 5, len(text) - 1, [4]) == text.index("\n\n")


@pytest.mark.parametrize(
    ("index", "high", "rest"),
    [
        (0, 5, "one two. Three four"),
        (1, 15, "Three four"),
        (1, 6, "two. Three four"),
        (4, 6, "two. Three four"),
        (1, 2, "ne two. Three four"),
    ],
)
def test_start_is_at_a_sentence_else_a_word_else_a_cluster(
    index: int, high: int, rest: str
) -> None:
    text = "one two. Three four"
    assert text[near_start(text, index, high, 0) :] == rest
