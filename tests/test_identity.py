import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pincite.identity import (
    ChunkKey,
    bytes_sha256,
    chunk_key,
    evidence_key,
    parse_chunk_key,
    text_sha256,
)

DOC_IDS = st.one_of(
    st.text(min_size=1, max_size=30),
    st.lists(st.sampled_from(["a", "#chunk-", "#chunk-7", "-", "é", "0"]), min_size=1).map("".join),
)


@given(DOC_IDS, st.integers(0, 2**31))
@hypothesis_settings(max_examples=60, deadline=None)
def test_key_parses_back_to_its_halves(doc_id: str, index: int) -> None:
    assert parse_chunk_key(chunk_key(doc_id, index)) == ChunkKey(doc_id, index)


@given(st.text(max_size=30) | DOC_IDS)
@hypothesis_settings(max_examples=60, deadline=None)
def test_what_parses_is_the_key_of_what_it_says(key: str) -> None:
    parsed = parse_chunk_key(key)
    assert parsed is None or chunk_key(*parsed) == key


@pytest.mark.parametrize(
    ("doc_id", "chunk_index", "vector_id", "rank", "key"),
    [
        ("d", 0, "v", 7, "d#chunk-0"),
        ("d", 12, None, 7, "d#chunk-12"),
        ("d#chunk-3", 4, "v", 7, "d#chunk-3#chunk-4"),
        ("d", None, "v", 7, "vector:v"),
        ("d", -1, "v", 7, "vector:v"),
        ("", 3, "v", 7, "vector:v"),
        (None, 3, "v", 7, "vector:v"),
        (None, None, "v", 7, "vector:v"),
        ("d", None, "", 7, "rank:7"),
        ("d", -1, None, 7, "rank:7"),
        ("", 0, "", 0, "rank:0"),
        (None, None, None, 3, "rank:3"),
        (" ", 0, None, 0, " #chunk-0"),
    ],
)
def test_evidence_key(
    doc_id: str | None, chunk_index: int | None, vector_id: str | None, rank: int, key: str
) -> None:
    assert evidence_key(doc_id, chunk_index, vector_id, rank) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "d",
        "#chunk-0",
        "d#chunk-",
        "d#chunk-01",
        "d#chunk-00",
        "d#chunk--1",
        "d#chunk-+1",
        "d#chunk-1 ",
        "d#chunk- 1",
        "d#chunk-1\n",
        "d#chunk-1_0",
        "d#chunk-\u0661",
        "d#chunk-\u00b2",
        "d#chunk-x",
        "d#CHUNK-1",
        "d#chunk-" + "1" * 5_000,
        "vector:v",
        "rank:0",
    ],
)
def test_anything_but_a_canonical_key_is_no_key(text: str) -> None:
    assert parse_chunk_key(text) is None


def test_key_is_parsed_from_the_right() -> None:
    assert parse_chunk_key("a#chunk-1#chunk-2") == ("a#chunk-1", 2)
    assert parse_chunk_key("vector:v#chunk-2") == ("vector:v", 2)


def test_digest_is_over_utf8_bytes() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert text_sha256("") == bytes_sha256(b"") == empty
    assert text_sha256("é😀") == bytes_sha256("é😀".encode())
    assert text_sha256("e\u0301") != text_sha256("\u00e9")
