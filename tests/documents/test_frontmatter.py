import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.documents.frontmatter import (
    FRONTMATTER_AS_TEXT,
    FRONTMATTER_DUPLICATE_KEY,
    FRONTMATTER_INVALID,
    FRONTMATTER_UNCLOSED,
    RAW_KEY,
    Known,
    Split,
    known_fields,
    split_frontmatter,
)
from pincite.documents.model import JSON


def codes(split: Split) -> list[str]:
    return [warning.code for warning in split.warnings]


def known(block: str) -> Known:
    split = split_frontmatter(f"---\n{block}\n---\nBody")
    assert codes(split) == []
    return known_fields(split.fields)


@pytest.mark.parametrize("start", ["", "\ufeff", "\n", "\ufeff\n \n", "\r\n"])
def test_yaml_block_at_the_start_is_taken_off(start: str) -> None:
    assert split_frontmatter(f"{start}---\na: b\n---\nBody\n") == Split("Body\n", {"a": "b"})


def test_toml_block_is_taken_off() -> None:
    text = '+++\ntitle = "T"\n[extra]\nn = 1\n+++\n\nBody'
    assert split_frontmatter(text) == Split("\nBody", {"title": "T", "extra": {"n": 1}})


def test_crlf_fences_are_fences() -> None:
    assert split_frontmatter("---\r\na: b\r\n---\r\nBody") == Split("Body", {"a": "b"})


def test_dots_close_a_yaml_block() -> None:
    assert split_frontmatter("---\na: b\n...\nBody") == Split("Body", {"a": "b"})


@pytest.mark.parametrize("block", ["", "# only a comment\n"])
def test_empty_block_is_valid(block: str) -> None:
    assert split_frontmatter(f"---\n{block}---\nBody") == Split("Body", {})


def test_block_at_the_very_end_leaves_no_body() -> None:
    assert split_frontmatter("---\na: b\n---") == Split("", {"a": "b"})


@pytest.mark.parametrize(
    "text",
    ["Body\n---\na: b\n---\n", "----\na: b\n----\n", " ---\na: b\n---\n", "--- a\nb: c\n---", ""],
)
def test_what_is_not_a_block_is_body(text: str) -> None:
    assert split_frontmatter(text) == Split(text, {})


def test_rules_in_the_body_stay_there() -> None:
    assert split_frontmatter("---\na: b\n---\nOne\n\n---\n\nTwo\n---\n").body == (
        "One\n\n---\n\nTwo\n---\n"
    )


@pytest.mark.parametrize("text", ["---\na: b\nBody", "+++\na = 1\n---\nBody", "---", "---\n"])
def test_unclosed_block_is_body_with_a_warning(text: str) -> None:
    split = split_frontmatter(text)
    assert (split.body, split.fields, codes(split)) == (text, {}, [FRONTMATTER_UNCLOSED])


@pytest.mark.parametrize(
    ("fence", "block"),
    [
        ("---", "a: b: c\n"),
        ("---", "a: [1\n"),
        ("---", "\ttab: 1\n"),
        ("---", "just text\n"),
        ("---", "- a\n- b\n"),
        ("---", "? [a, b]\n: c\n"),
        ("---", "a: *nowhere\n"),
        ("---", "a: &x [*x]\n"),
        ("---", "a: " + "[" * 5_000 + "\n"),
        ("---", "a: " + "[" * 300 + "]" * 300 + "\n"),
        ("---", "a: b\n--- \x07\n"),
        ("+++", "a = \n"),
        ("+++", "a = 1\na = 2\n"),
        ("+++", "a = " + "[" * 300 + "]" * 300 + "\n"),
        ("+++", "a = " + "[" * 100_000 + "\n"),
        ("+++", "a = 1" + "0" * 5_000 + "\n"),
    ],
)
def test_closed_invalid_block_is_kept_as_metadata(fence: str, block: str) -> None:
    split = split_frontmatter(f"{fence}\n{block}{fence}\nBody")
    assert split.body == "Body"
    assert split.fields == {RAW_KEY: block}
    assert codes(split) == [FRONTMATTER_INVALID]


def test_text_between_two_rules_stays_in_the_body() -> None:
    text = "---\n\nA paragraph between rules.\n\n---\nMore"
    split = split_frontmatter(text)
    assert (split.body, split.fields, codes(split)) == (text, {}, [FRONTMATTER_AS_TEXT])


def test_mapping_after_a_blank_line_is_frontmatter() -> None:
    assert split_frontmatter("---\n\na: b\n---\nBody") == Split("Body", {"a": "b"})


def test_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    split = split_frontmatter("---\n" + "\n".join(lines) + "\n---\nBody")
    assert (split.body, codes(split)) == ("Body", [FRONTMATTER_INVALID])


def test_small_alias_is_followed() -> None:
    split = split_frontmatter("---\na: &x [one, two]\nb: *x\n---\n")
    assert split.fields == {"a": ["one", "two"], "b": ["one", "two"]}


def test_object_tags_make_no_objects() -> None:
    text = '---\na: !!python/object/apply:os.system ["exit 1"]\nb: !!binary aGk=\n---\nBody'
    assert split_frontmatter(text) == Split("Body", {"a": ["exit 1"], "b": "aGk="})


def test_duplicate_key_is_told_and_the_last_one_counts() -> None:
    split = split_frontmatter("---\na: 1\na: 2\n---\n")
    assert (split.fields, codes(split)) == ({"a": 2}, [FRONTMATTER_DUPLICATE_KEY])


def test_long_values_are_kept_in_full() -> None:
    value = "x" * 70_000
    assert known(f"note: {value}").rest == {"note": value}


@pytest.mark.parametrize(
    "value",
    ["no", "yes", "1.10", "08", "1e3", "0x1F", "12:30:45", "2024-01-01", "true", "12", "1_0"],
)
def test_text_fields_stay_text(value: str) -> None:
    block = f"title: {value}\ncategory: {value}\ntags: [{value}]\nslug: {value}\ndoc_id: {value}"
    fields = known(block)
    assert (fields.title, fields.category, fields.tags) == (value, value, (value,))
    assert (fields.rest, fields.doc_id) == ({"slug": value}, value)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("12", 12),
        ("-3", -3),
        ("1.5", 1.5),
        ("1.10", "1.10"),
        ("08", "08"),
        ("0x1F", "0x1F"),
        ("12:30:45", "12:30:45"),
        ("no", "no"),
        ("true", True),
        ("~", None),
        (".nan", ".nan"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("12345678901234567890", "12345678901234567890"),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ("2024-01-01", "2024-01-01"),
        ("2024-01-01T10:00:00+02:00", "2024-01-01T10:00:00+02:00"),
    ],
)
def test_other_values_become_numbers_only_where_nothing_is_lost(written: str, kept: JSON) -> None:
    assert known(f"x: {written}").rest == {"x": kept}


def test_toml_dates_are_iso_text_with_their_zone() -> None:
    block = "d = 2024-01-01\nt = 2024-01-01T10:00:00+02:00\nz = 2024-01-01T10:00:00Z\nc = 07:30:00"
    assert split_frontmatter(f"+++\n{block}\n+++\n").fields == {
        "d": "2024-01-01",
        "t": "2024-01-01T10:00:00+02:00",
        "z": "2024-01-01T10:00:00+00:00",
        "c": "07:30:00",
    }


def test_toml_numbers_follow_the_same_rules() -> None:
    block = "title = 1.10\nf = 1.10\ng = 1.5\nn = nan\nbig = 12345678901234567890\n[x]\nslug = 7"
    assert split_frontmatter(f"+++\n{block}\n+++\n").fields == {
        "title": "1.10",
        "f": "1.10",
        "g": 1.5,
        "n": "nan",
        "big": "12345678901234567890",
        "x": {"slug": "7"},
    }


@pytest.mark.parametrize("block", ['---\na: "x\\0y"\n---\n', '+++\na = "x\\u0000y"\n+++\n'])
def test_nul_never_comes_out_of_escapes(block: str) -> None:
    assert split_frontmatter(block).fields == {"a": "x\ufffdy"}


@pytest.mark.parametrize("key", ["title", "Title", "TITLE"])
def test_known_fields_are_found_in_any_case(key: str) -> None:
    assert known(f"{key}: Hello").title == "Hello"


def test_second_spelling_stays_in_the_rest() -> None:
    fields = known("Title: One\ntitle: Two")
    assert (fields.title, fields.rest) == ("One", {"title": "Two"})


def test_all_known_fields_are_picked_and_the_rest_is_kept() -> None:
    fields = known_fields(
        {
            "doc_id": "id-1",
            "title": "A\n  title",
            "category": "guide",
            "summary": "S",
            "description": "D",
            "keywords": ["k1", "k2", "k1"],
            "tags": "t1, t2，t3,",
            "aliases": "Old, name",
            "kb_scope": "other",
            "nested": {"a": [1, {"b": None}]},
        }
    )
    assert fields == Known(
        doc_id="id-1",
        title="A title",
        category="guide",
        summary="S",
        keywords=("k1", "k2"),
        tags=("t1", "t2", "t3"),
        aliases=("Old, name",),
        rest={"description": "D", "kb_scope": "other", "nested": {"a": [1, {"b": None}]}},
    )


def test_nothing_known_gives_empty_values() -> None:
    assert known_fields({}) == Known(None, "", "", "", (), (), (), {})


def test_summary_falls_back_to_the_description() -> None:
    fields = known("summary: ''\ndescription: D")
    assert (fields.summary, fields.rest) == ("D", {})


def test_taxonomies_hold_tags_and_keywords_too() -> None:
    lists = 'Tags = ["b", "a"]\nkeywords = ["k"]\nauthors = ["x"]'
    text = f'+++\ntags = ["a"]\n[taxonomies]\n{lists}\n+++\n'
    fields = known_fields(split_frontmatter(text).fields)
    assert (fields.tags, fields.keywords) == (("a", "b"), ("k",))
    assert fields.rest == {"taxonomies": {"authors": ["x"]}}


@pytest.mark.parametrize(
    ("block", "category"),
    [
        ("category: [a, b]", "a"),
        ("categories: [c, d]", "c"),
        ("taxonomies: {categories: [e]}", "e"),
        ("category: x\ncategories: [y]", "x"),
        ("category: {a: b}", ""),
        ("categories: []", ""),
    ],
)
def test_category_falls_back_to_the_first_of_a_list(block: str, category: str) -> None:
    assert known(block).category == category


def test_known_field_of_another_shape_stays_in_the_rest() -> None:
    fields = known("title: [a]\ntags: {a: b}\naliases: [[x]]")
    assert (fields.title, fields.tags, fields.aliases) == ("", (), ())
    assert fields.rest == {"title": ["a"], "tags": {"a": "b"}, "aliases": [["x"]]}


@pytest.mark.parametrize("value", ["", "''", "'  '", "~", "[a]", "{a: b}"])
def test_doc_id_that_is_there_but_blank_is_told_apart(value: str) -> None:
    assert known(f"doc_id: {value}").doc_id == ""


LINES = st.sampled_from(
    ["---", "+++", "...", "----", "a: b", "a = 1", "- x", "", " ", "[t]", "x: &a [*a]", "\ufeff"]
)


@given(st.lists(st.one_of(LINES, st.text(max_size=8)), max_size=9).map("\n".join))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_text_splits_without_loss_of_body_or_json(text: str) -> None:
    split = split_frontmatter(text)
    assert text.endswith(split.body)
    json.dumps(known_fields(split.fields).rest, allow_nan=False)
