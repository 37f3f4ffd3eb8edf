from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.retrieval.candidates import Candidate, to_table
from pincite.retrieval.packing import Block, CountTokens, Packed, pack, upper_bound
from pincite.schemas.dropped import DROPPED

Make = Callable[..., Candidate]

TEXT = "one two three four five six seven eight nine ten eleven twelve"


def _words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def _letters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def _pack(rows: Sequence[Candidate], budget: int, count: CountTokens = _words) -> Packed:
    return pack(to_table(rows), budget, count)


def _dropped(made: Packed) -> list[tuple[str, str]]:
    return [(line["evidence_key"], line["reason"]) for line in made.dropped.to_pylist()]


def _span(make: Make, start: int, end: int, index: int = 0, text: str = TEXT) -> Candidate:
    return make("a", index, content=text[start:end], char_start=start, char_end=end)


def _shown(block: Block) -> tuple[str, int | None, int | None, bool]:
    return block.content, block.char_start, block.char_end, block.trimmed


def test_blocks_that_fit_are_packed_whole(make: Make) -> None:
    made = _pack([_span(make, 0, 13), _span(make, 14, 23, 1)], 5)
    assert [_shown(b) for b in made.blocks] == [
        ("one two three", 0, 13, False),
        ("four five", 14, 23, False),
    ]
    assert (made.tokens_used, _dropped(made)) == (5, [])


def test_text_that_a_neighbour_shows_is_trimmed_from_the_front(make: Make) -> None:
    second = _span(make, 8, 23, 1)
    made = _pack([_span(make, 0, 13), second], 99)
    assert _shown(made.blocks[1]) == ("four five", 14, 23, True)
    assert made.blocks[1].candidate.content_sha256 == second.content_sha256
    assert made.tokens_used == 5


def test_text_that_a_neighbour_shows_is_trimmed_from_the_end(make: Make) -> None:
    made = _pack([_span(make, 8, 23, 1), _span(make, 0, 13)], 99)
    assert _shown(made.blocks[1]) == ("one two", 0, 7, True)


def test_text_between_two_shown_blocks_is_trimmed_on_both_sides(make: Make) -> None:
    rows = [_span(make, 0, 13), _span(make, 24, 33, 2), _span(make, 8, 27, 1)]
    assert _shown(_pack(rows, 99).blocks[2]) == ("four five", 14, 23, True)


def test_a_block_around_a_shown_one_gives_its_longer_side(make: Make) -> None:
    made = _pack([_span(make, 4, 7, 1), _span(make, 0, 23)], 99)
    assert _shown(made.blocks[1]) == ("three four five", 8, 23, True)


def test_a_block_with_nothing_new_is_a_duplicate(make: Make) -> None:
    made = _pack([_span(make, 0, 23), _span(make, 4, 14, 1)], 99)
    assert _dropped(made) == [("a#chunk-1", "duplicate")]


def test_another_version_of_the_document_is_another_text(make: Make) -> None:
    rows = [_span(make, 0, 13), make("a", 1, content=TEXT[:13], char_start=0, char_end=13)]
    newer = make("a", 1, content=TEXT[:13], char_start=0, char_end=13, doc_version=2)
    assert len(_pack(rows, 99).blocks) == 1
    assert len(_pack([rows[0], newer], 99).blocks) == 2


def test_rows_without_spans_are_never_trimmed(make: Make) -> None:
    made = _pack([make("a", 0, content="same words"), make("a", 1, content="same words")], 9)
    assert [_shown(b) for b in made.blocks] == [("same words", None, None, False)] * 2


def test_what_does_not_fit_is_dropped_and_a_shorter_one_behind_it_is_packed(make: Make) -> None:
    rows = [make("a", content="w w"), make("b", content="w w w"), make("c", content="w")]
    made = _pack(rows, 3)
    assert [b.candidate.doc_id for b in made.blocks] == ["a", "c"]
    assert _dropped(made) == [("b#chunk-0", "budget")]


def test_a_first_block_over_the_whole_budget_gives_its_beginning(make: Make) -> None:
    made = _pack([_span(make, 0, len(TEXT)), _span(make, 0, 7, 1)], 3)
    assert [_shown(b) for b in made.blocks] == [("one two three", 0, 13, True)]
    assert _dropped(made) == [("a#chunk-1", "duplicate")]


def test_a_beginning_ends_with_a_word_where_one_is_near(make: Make) -> None:
    assert _shown(_pack([_span(make, 0, 40)], 10, _letters).blocks[0]) == ("one two", 0, 7, True)
    unbroken = make("a", content="漢" * 40, char_start=0, char_end=40)
    assert _shown(_pack([unbroken], 10, _letters).blocks[0]) == ("漢" * 10, 0, 10, True)


def test_a_budget_under_one_character_packs_nothing(make: Make) -> None:
    made = _pack([_span(make, 0, 40)], 1, lambda texts: [2 * len(text) for text in texts])
    assert (made.blocks, _dropped(made)) == ((), [("a#chunk-0", "budget")])


def test_blank_content_is_not_evidence(make: Make) -> None:
    assert not _pack([make("a", content=" \n")], 9).blocks


@pytest.mark.parametrize("other", [{"corpus": "web"}, {"doc_id": "b"}, {"doc_version": None}])
def test_the_same_span_of_another_text_is_shown_whole(make: Make, other: dict[str, Any]) -> None:
    same = {"content": TEXT[:13], "char_start": 0, "char_end": 13}
    made = _pack([make(**same), make(**{**same, **other})], 99)
    assert [_shown(b) for b in made.blocks] == [("one two three", 0, 13, False)] * 2


def test_rows_without_a_document_are_never_trimmed(make: Make) -> None:
    same = {"content": TEXT[:13], "char_start": 0, "char_end": 13}
    assert len(_pack([make(None, 0, **same), make(None, 1, **same)], 99).blocks) == 2


def test_what_falls_out_keeps_its_contract_and_score(make: Make) -> None:
    rows = [make("a", content="w w w"), make("b", content="w w", score=0.25, corpus="web")]
    made = _pack(rows, 3)
    assert made.dropped.schema.equals(DROPPED.schema)
    assert made.dropped.to_pylist() == [
        {
            "evidence_key": "b#chunk-0",
            "corpus": "web",
            "source": "",
            "reason": "budget",
            "score": 0.25,
        }
    ]
    assert _pack([], 3).dropped.schema.equals(DROPPED.schema)


def test_trimmed_text_counts_only_what_is_shown(make: Make) -> None:
    """The second would not fit whole; what it adds does."""
    made = _pack([_span(make, 0, 13), _span(make, 4, 23, 1)], 5)
    assert [b.tokens for b in made.blocks] == [3, 2]


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abc", 3), ("漢", 3), ("\U0001f642é", 6)])
def test_no_text_has_more_tokens_than_the_upper_bound_says(text: str, tokens: int) -> None:
    assert upper_bound([text, "x"]) == [tokens, 1]


@pytest.mark.parametrize("tokens", [-1, 2.0, True, None, float("nan"), "3"])
def test_a_counter_that_gives_no_count_does_not_decide_what_fits(make: Make, tokens: Any) -> None:
    with pytest.raises(ValueError):
        _pack([make("a")], 99, lambda texts: [tokens for _ in texts])


@pytest.mark.parametrize("counts", [[], [1, 1]])
def test_a_counter_that_gives_another_number_of_counts_is_refused(
    make: Make, counts: list[int]
) -> None:
    with pytest.raises(ValueError):
        _pack([make("a")], 99, lambda texts: counts)


PIECES = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 60), st.integers(1, 40)), max_size=8
)


@settings(max_examples=60, deadline=None)
@given(
    st.text("ab \n漢é", min_size=60, max_size=120),
    PIECES,
    st.integers(1, 80),
    st.sampled_from([_words, _letters]),
)
def test_packed_blocks_say_what_the_kept_text_says_once_and_within_the_budget(
    make: Make,
    text: str,
    pieces: list[tuple[str, int, int]],
    budget: int,
    count: Callable[[Sequence[str]], list[int]],
) -> None:
    rows = [
        make(doc, index, content=text[s : s + n], char_start=s, char_end=s + len(text[s : s + n]))
        for index, (doc, s, n) in enumerate(pieces)
    ]
    made = _pack(rows, budget, count)
    assert made.tokens_used <= budget
    assert len(made.blocks) + len(made.dropped) == len(rows)
    shown: dict[str | None, set[int]] = {}
    for block in made.blocks:
        assert block.char_start is not None
        assert block.char_end is not None
        assert block.content == text[block.char_start : block.char_end]
        assert block.trimmed == (block.content != block.candidate.content)
        assert block.tokens == count([block.content])[0]
        positions = set(range(block.char_start, block.char_end))
        assert positions.isdisjoint(shown.setdefault(block.candidate.doc_id, set()))
        shown[block.candidate.doc_id] |= positions


@settings(max_examples=40, deadline=None)
@given(st.text("ab 漢", min_size=1, max_size=200).filter(str.strip), st.integers(1, 20))
def test_one_long_block_never_leaves_nothing(make: Make, text: str, budget: int) -> None:
    row = make("a", content=text, char_start=7, char_end=7 + len(text))
    (block,) = _pack([row], budget, _letters).blocks
    assert block.content == text[(block.char_start or 0) - 7 : (block.char_end or 0) - 7]
    assert text.strip().startswith(block.content.strip())
