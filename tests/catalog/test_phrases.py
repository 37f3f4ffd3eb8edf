"""The normal form of phrases, and which of them a query may hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.catalog.phrases import (
    MAX_CANDIDATES,
    MAX_PHRASE_LENGTH,
    is_character,
    phrase_of,
    phrases_in,
    units,
    units_of_phrase,
)
from pincite.catalog.postings import MAX_PHRASES, phrases_of, posting_rows

HOSTILE = [
    "",
    " ",
    "!?…",
    "\0",
    "😀😀",
    "%",
    "_",
    "' or 1=1 --",
    "a" * 5_000,
    "漢" * 5_000,
    "\ud800",
]


def record(**changes: object) -> dict[str, object]:
    fields = {"kb_scope": "", "category": "", "title": "", "keywords": [], "tags": []}
    return {**fields, "aliases": [], **changes}


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("HNSW 索引", "hnsw 索引"),
        ("hnsw索引", "hnsw 索引"),
        ("ＨＮＳＷ　索引", "hnsw 索引"),
        ("Token budgets", "token budget"),
        ("token-budget", "token budget"),
        ("State of the Art", "state art"),
        ("的士", "的士"),
        ("索引 参数", "索引参数"),
        ("Über-Größe", "über grösse"),
        ("k8s", "k8s"),
        ("the", ""),
        ("C++", ""),
        ("税", ""),
        ("one two three four five six seven eight nine", ""),
        ("漢" * 25, ""),
    ],
)
def test_normal_form(text: str, phrase: str) -> None:
    assert phrase_of(text) == phrase


@pytest.mark.parametrize(
    ("keyword", "query"),
    [
        ("hnsw 索引", "怎么调HNSW索引参数"),
        ("HNSW索引", "怎么调 hnsw 索引 的参数"),
        ("索引参数", "HNSW索引参数怎么调"),
        ("向量数据库", "哪个向量数据库最快？"),
        ("token budgets", "What is the token-budget of a lookup?"),
        ("state of the art", "our State of the Art methods"),
        ("データベース", "このデータベースの使い方"),
        ("데이터베이스", "데이터베이스를 쓰는 법"),
        ("k8s", "run it on K8S!"),
    ],
)
def test_phrase_inside_a_query_is_a_candidate(keyword: str, query: str) -> None:
    assert phrase_of(keyword) in phrases_in(query)


def test_words_are_not_found_across_other_words() -> None:
    candidates = phrases_in("token or budget for rail")
    assert "token budget" in candidates
    assert "token rail" not in candidates
    assert "引索" not in phrases_in("索引参数")


def test_whole_query_comes_first_and_shorter_runs_before_longer() -> None:
    assert phrases_in("alpha beta gamma") == [
        "alpha beta gamma",
        "alpha",
        "beta",
        "gamma",
        "alpha beta",
        "beta gamma",
    ]


def test_long_query_asks_for_words_and_pairs_of_its_beginning() -> None:
    words = [f"w{number}x" for number in range(500)]
    candidates = phrases_in(" ".join(words))
    assert len(candidates) == MAX_CANDIDATES
    assert {*words[:40], f"{words[38]} {words[39]}"} <= set(candidates)
    assert words[40] not in candidates


def test_whole_title_of_eight_words_is_a_candidate_of_itself() -> None:
    title = "alpha beta gamma delta epsilon zeta eta theta"
    assert phrase_of(title) == phrases_in(title)[0]


@given(st.text(max_size=60))
def test_candidates_are_phrases_of_the_query(query: str) -> None:
    found = units(query)
    for phrase in phrases_in(query):
        assert 2 <= len(phrase) <= MAX_PHRASE_LENGTH
        parts = units_of_phrase(phrase)
        starts = range(len(found) - len(parts) + 1)
        assert any(found[start : start + len(parts)] == parts for start in starts)


@given(st.text(max_size=60))
def test_normal_form_is_a_candidate_of_its_own_text(text: str) -> None:
    phrase = phrase_of(text)
    assert not phrase or phrases_in(text)[0] == phrase


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_no_error(text: str) -> None:
    assert len(phrases_in(text)) <= MAX_CANDIDATES
    assert len(phrase_of(text)) <= MAX_PHRASE_LENGTH


def test_characters_are_those_of_scripts_without_spaces() -> None:
    assert [is_character(unit) for unit in ("漢", "ก", "한", "c", "ab", "漢字")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_phrase_of_several_fields_counts_once_and_the_category_apart() -> None:
    fields = record(title="Rail", aliases=["train"], keywords=["rails", "trains"], category="Rail")
    assert phrases_of({**fields, "tags": ["track", ""]}) == [
        ("category", "rail"),
        ("title", "rail"),
        ("alias", "train"),
        ("tag", "track"),
    ]


def test_phrases_of_a_document_are_bounded() -> None:
    names = [f"name{number}x" for number in range(200)]
    found = phrases_of(record(title="title", tags=names, aliases=["alias"], category="cat"))
    assert len(found) == MAX_PHRASES
    assert [kind for kind, _ in found[:3]] == ["category", "title", "alias"]


def test_document_without_metadata_has_no_rows() -> None:
    assert posting_rows("docs", "a", record()) == []
