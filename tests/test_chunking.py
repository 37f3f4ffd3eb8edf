import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.chunking import Chunk, Chunker, ChunkOptions, WindowChunker
from pincite.documents.token_map import CountTokens
from pincite.errors import ConfigInvalid

FAMILY = "👨‍👩‍👧‍👦"
HINDI = "क्षत्रिय ने हिन्दी में लिखा। "
THAI = "ภาษาไทยไม่มีช่องว่างระหว่างคำ"
ARABIC = "هل هذا نصٌّ عربيٌّ؟ نعم. "
CHINESE = "向量数据库存储嵌入。它支持混合检索！真的吗？"
PIECES = [
    "word ", "Sentence ends here. ", "e.g. 3.14 ", "\n", "\n\n", "\n# Heading\n", "\nTitle\n===\n",
    "```\n# not a heading\n```\n", " " * 300, "x" * 500, CHINESE, THAI, ARABIC, HINDI, FAMILY,
    "🇩🇪🇫🇷🇯🇵", "e\u0301", "\u0301" * 40, " \u0301", "한국어 텍스트. ", "\u200b", "\r\n", "。\ufe00",
    "\u0600", "- item\n", "| a | b |\n|---|---|\n",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=30)), max_size=40).map(
    lambda parts: "".join(parts).encode("utf-8", "ignore").decode()
)


def by_bytes(texts: Sequence[str]) -> list[int]:
    return [-(-len(text.encode()) // 4) for text in texts]


def by_words(texts: Sequence[str]) -> list[int]:
    """A tokenizer with two special tokens and a prefix, to which whitespace costs nothing."""
    return [5 + sum(-(-len(word) // 4) for word in text.split()) for text in texts]


def capricious(texts: Sequence[str]) -> list[int]:
    """Counts long texts higher than the sum of their pieces: the estimate is no upper bound."""
    return [len(text) + len(text) ** 2 // 400 for text in texts]


def cut(text: str, size: int = 400, overlap: int = 80, **limits: int) -> list[Chunk]:
    return WindowChunker().chunk(text, ChunkOptions(size, overlap, **limits), by_bytes)


def boundaries(text: str) -> set[int]:
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


def assert_sound(text: str, chunks: Sequence[Chunk]) -> None:
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert all(chunk.text and chunk.text == chunk.text.strip() for chunk in chunks)
    covered = 0
    for before, chunk in zip([None, *chunks], chunks, strict=False):
        assert before is None or (before.start < chunk.start and before.end < chunk.end)
        assert not text[covered : chunk.start].strip()
        covered = chunk.end
    assert not text[covered:].strip()


def assert_whole_clusters(text: str, chunks: Sequence[Chunk], longest: int) -> None:
    """Spans end at cluster boundaries, but for stripped whitespace and oversize clusters."""
    for match in regex.finditer(r"\X", text):
        if len(match[0].encode()) > longest:
            continue
        for chunk in chunks:
            inner = range(match.start() + 1, match.end())
            assert chunk.start not in inner or text[chunk.start - 1].isspace()
            assert chunk.end not in inner or text[chunk.end].isspace()


def test_window_chunker_is_a_chunker() -> None:
    chunker: Chunker = WindowChunker()
    assert (chunker.name, chunker.version) == ("window", "1")


@given(TEXTS, st.integers(1, 60), st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_chunks_are_sound_for_every_text_and_size(
    text: str, size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    chunks = cut(text, size, overlap)
    assert_sound(text, chunks)
    assert_whole_clusters(text, chunks, size * 4)
    assert [chunk.tokens for chunk in chunks] == by_bytes([chunk.text for chunk in chunks])
    assert all(chunk.tokens <= size for chunk in chunks)


@given(TEXTS, st.integers(4, 120), st.integers(1, 90))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_model_and_store_limits_are_never_passed(
    text: str, max_bytes: int, max_tokens: int
) -> None:
    chunks = cut(text, 100, 40, max_tokens=max_tokens, max_bytes=max_bytes)
    assert_sound(text, chunks)
    assert_whole_clusters(text, chunks, min(max_bytes, max_tokens * 4))
    assert all(len(chunk.text.encode()) <= max_bytes for chunk in chunks)
    assert all(chunk.tokens <= max_tokens for chunk in chunks)


@given(TEXTS, st.sampled_from([by_words, capricious]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_windows_hold_for_counters_that_do_not_add_up(text: str, count: CountTokens) -> None:
    chunks = WindowChunker().chunk(text, ChunkOptions(60, 15), count)
    assert_sound(text, chunks)
    assert all(chunk.tokens <= 60 for chunk in chunks)
    assert [chunk.tokens for chunk in chunks] == count([chunk.text for chunk in chunks])


@pytest.mark.parametrize("text", ["", " ", "\n\t \n", " " * 10_000])
def test_text_without_content_has_no_chunks(text: str) -> None:
    assert cut(text) == []


def test_short_text_is_one_chunk_without_its_margins() -> None:
    assert cut("\n  Hello there.\n\n") == [Chunk(0, 3, 15, "Hello there.", "", 3)]


@pytest.mark.parametrize(
    "options",
    [
        {"size": 0},
        {"size": 10, "overlap": 10},
        {"size": 10, "overlap": 11},
        {"overlap": -1},
        {"max_tokens": 0},
        {"max_bytes": 3},
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ConfigInvalid):
        ChunkOptions(**options)


def test_one_character_over_the_limit_is_a_configuration_error() -> None:
    with pytest.raises(ConfigInvalid, match="cannot hold one character"):
        WindowChunker().chunk("abc", ChunkOptions(4, 0), by_words)


def filler(tokens: int) -> str:
    return "abc " * tokens


def test_heading_in_the_last_fifth_beats_later_breaks() -> None:
    text = f"{filler(85)}\n## Next\nA sentence. And\n\nmore {filler(50)}"
    assert cut(text, 100, 0)[1].text.startswith("## Next")


def test_paragraph_beats_a_later_sentence() -> None:
    text = f"{filler(85)}\n \nParagraph. Second {filler(50)}"
    assert cut(text, 100, 0)[1].text.startswith("Paragraph.")


def test_sentence_beats_a_later_word() -> None:
    text = f"{filler(85)}ends. Then {filler(50)}"
    assert cut(text, 100, 0)[1].text.startswith("Then")


def test_the_latest_break_of_a_kind_is_taken() -> None:
    text = f"{filler(83)}one. Two is. Three {filler(50)}"
    assert cut(text, 100, 0)[1].text.startswith("Three")


def test_breaks_before_the_last_fifth_are_left() -> None:
    text = f"{filler(60)}\n# Early\n{filler(80)}"
    assert "# Early" in cut(text, 100, 0)[0].text


@pytest.mark.parametrize("mark", "。！？")
def test_cjk_sentence_ends_count(mark: str) -> None:
    text = "字" * 120 + mark + "后" * 60
    assert cut(text, 100, 0)[0].text == "字" * 120 + mark


def test_full_stop_inside_a_number_ends_no_sentence() -> None:
    text = f"{filler(90)}3.1415 {filler(50)}"
    assert not cut(text, 100, 0)[0].text.endswith("3.")


def test_long_word_is_cut_hard_and_kept_whole_in_sum() -> None:
    chunks = cut("x" * 10_000, 100, 0)
    assert "".join(chunk.text for chunk in chunks) == "x" * 10_000
    assert {chunk.tokens for chunk in chunks[:-1]} == {100}


def test_emoji_family_is_not_taken_apart() -> None:
    chunks = cut(FAMILY * 40, 20, 0)
    assert all(len(chunk.text) % len(FAMILY) == 0 for chunk in chunks)


def test_cluster_over_the_limit_is_cut_between_code_points() -> None:
    text = "e" + "\u0301" * 10_000
    chunks = cut(text, 20, 5)
    assert_sound(text, chunks)
    assert all(chunk.tokens <= 20 for chunk in chunks)


def test_neighbours_share_about_the_overlap() -> None:
    text = "".join(f"word{number} " for number in range(3_000))
    chunks = cut(text, 400, 80)
    shared = [by_bytes([text[after.start : before.end]])[0] for before, after in pairwise(chunks)]
    assert len(shared) > 10
    assert all(60 <= tokens <= 82 for tokens in shared)


def test_overlap_starts_at_a_sentence_when_one_is_near() -> None:
    text = "Ten little words make up a sentence here, see. " * 100
    assert all(chunk.text.startswith("Ten") for chunk in cut(text, 100, 30))


def test_no_overlap_shares_nothing() -> None:
    chunks = cut(filler(500), 100, 0)
    assert all(a.end <= b.start for a, b in pairwise(chunks))


def test_last_chunk_is_never_overlap_alone() -> None:
    for extra in range(1, 120):
        chunks = cut(filler(100 + extra), 100, 50)
        assert chunks[-1].end > chunks[-2].end + 1


def test_overlap_shrinks_with_the_models_limit() -> None:
    chunks = cut(filler(500), 400, 80, max_tokens=50)
    shared = [a.end - b.start for a, b in pairwise(chunks)]
    assert all(20 <= characters <= 44 for characters in shared)


def test_whitespace_ocean_between_words_is_in_no_chunk_of_its_own() -> None:
    text = f"first{' ' * 10_000}second{chr(10) * 10_000}third"
    assert [chunk.text for chunk in cut(text, 50, 10)] == ["first", "second", "third"]


def test_heading_path_is_that_of_the_chunks_start() -> None:
    body = filler(95)
    text = (
        f"{body}\n# Guide\n{body}\n## Install\n{body}\n"
        f"```\n# comment\n{body}\n```\n\nOther\n=====\n{body}\n"
    )
    headings = {chunk.text.split("\n")[0]: chunk.heading for chunk in cut(text, 100, 0)}
    assert headings["# Guide"] == "Guide"
    assert headings["## Install"] == "Guide > Install"
    assert headings["Other"] == "Other"
    assert {chunk.heading for chunk in cut(text, 100, 0)} == {*headings.values()}
    assert cut(text, 100, 0)[0].heading == ""
    assert "comment" not in str(headings.values())


def test_equal_input_gives_equal_chunks() -> None:
    text = (CHINESE + THAI + HINDI + FAMILY) * 50
    assert cut(text, 40, 15) == cut(text, 40, 15)


def test_every_character_is_counted_a_bounded_number_of_times() -> None:
    seen = 0

    def count(texts: Sequence[str]) -> list[int]:
        nonlocal seen
        seen += sum(map(len, texts))
        return by_bytes(texts)

    text = "A sentence of some words. " * 8_000
    WindowChunker().chunk(text, ChunkOptions(), count)
    assert seen < 2.6 * len(text)


@pytest.mark.parametrize(
    "unit", ["\n", " ", "#", "# \n", "`", "```\n", "=\n", ".", "。", "\u0301", "\u200d", "🇩", "a\r"]
)
def test_monotonous_texts_take_no_quadratic_time(unit: str) -> None:
    text = "a" + unit * (200_000 // len(unit))
    started = time.process_time()
    assert_sound(text, cut(text))
    assert time.process_time() - started < 5
