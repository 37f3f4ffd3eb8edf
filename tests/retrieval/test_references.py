"""Citations in all the ways that people and models write them."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pincite.identity import doc_id_fault, evidence_key
from pincite.retrieval.references import References, guard_references

ROOT = Path(__file__).resolve().parents[2]
KEYS = (
    "docs/a.md#chunk-1",
    "docs/a.md#chunk-12",
    "手册/差旅 指南.md#chunk-0",
    'my [x], "y" (z); w.md#chunk-3',
    "https://h.example/p?q=1#top#chunk-0",
    "b#chunk-1#chunk-2",
    "vector:9f-1",
    "rank:0",
)
# Every way to cite one key that the guard knows.
FORMS = (
    "{}",
    "[{}]",
    "Text [{}].",
    "[ {} ]",
    "[see {}]",
    "[Source: {}]",
    "【{}】",
    "（见{}）。",
    "（来源：{}）",
    "({})",
    "(see {}).",
    "“{}”",
    "「{}」",
    '"{}"',
    "'{}'",
    "`{}`",
    "``{}``",
    "<{}>",
    "bare {} in prose",
    "bare at the end: {}",
    "bare {}, and {}; or {}: {}! {}? {}.",
    "根据{}，得知",
    "参见 {}。又见 {}；{}、{}",
    "差旅见{}的说明",
    "サーバー{}ー",
    "[the guide]({})",
    '[the guide]({} "title")',
    "[the guide](<{}>)",
    "A claim.[^1]\n\n[^1]: {}\n",
    "[^{}]",
    "| {} | a cell |",
    "**{}** and *{}*",
    "- {}\n- more",
    '{{"sources": ["{}"]}}',
    "{}\r\n",
)
# Those in which the guard sees where a key with blanks begins.
EXACT_FORMS = (
    *(form for form in FORMS if form.count("{}") == 1 and ("{}]" in form or "{})" in form)),
    "【{}】",
    "（参见 {}）",
    "「{}」",
    '"{}"',
    "`{}`",
    "<{}>",
    "[^1]: {}\n",
    "[{}, x]",
    "[{} 和 x]",
)
SIGNS = "aZ9é漢字の한 /:.-_#%?=&'\"`[]()【】（）,;，；、。|<>*~^@+\\😀"
PIECES = st.sampled_from((*SIGNS, "#chunk-", "#chunk-1", "vector:", "rank:0", "见", "see "))
doc_ids = (
    st.lists(PIECES, min_size=1, max_size=12).map("".join).filter(lambda d: not doc_id_fault(d))
)
indexes = st.integers(0, 10**18 - 1) | st.integers(0, 12)
keys = st.one_of(
    st.builds(evidence_key, doc_ids, indexes, st.none(), st.just(0)),
    st.builds(evidence_key, st.none(), st.none(), st.from_regex(r"\A[\w./-]*\w\Z"), st.just(0)),
    st.builds(evidence_key, st.none(), st.none(), st.none(), st.integers(0, 999)),
)
# Keys that nobody returned: no sign that would end them earlier.
words = st.text("aZ9é漢字の한/.-_#%?&@", min_size=1, max_size=6)
insides = st.lists(
    words
    | words.map("[{}]".format)
    | words.map("（{}）".format)
    | st.sampled_from([", ", "；", " "]),
    max_size=6,
).map("".join)
foreign_keys = st.builds(
    lambda inside, index: f"x{inside}y#chunk-{index}", insides, st.integers(0, 10**18 - 1)
)
plain_foreign_keys = st.one_of(
    st.builds(lambda word, index: f"x{word}y#chunk-{index}", words, indexes),
    st.from_regex(r"\Avector:[A-Za-z0-9][A-Za-z0-9/_-]*[A-Za-z0-9]\Z"),
    indexes.map("rank:{}".format),
)


def returned(*given: str) -> list[dict[str, str]]:
    return [{"document_id": key, "corpus": "docs"} for key in given]


def unknown(answer: str, *given: str) -> tuple[str, ...]:
    return guard_references(answer, returned(*given)).unknown


def written(form: str, key: str) -> str:
    return form.replace("{{", "{").replace("}}", "}").replace("{}", key)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", KEYS)
def test_a_returned_key_is_valid_in_every_form(form: str, key: str) -> None:
    found = guard_references(written(form, key), returned(*KEYS))
    assert found == References((key,), (key,), (), tuple(k for k in KEYS if k != key))


@given(key=keys, form=st.sampled_from(FORMS))
def test_any_returned_key_is_valid_in_every_form(key: str, form: str) -> None:
    assert guard_references(written(form, key), returned(key)).valid == (key,)


@given(
    given_keys=st.lists(keys, min_size=1, max_size=5, unique=True), mark=st.sampled_from(",;、；")
)
def test_any_returned_keys_in_one_bracket_are_valid(given_keys: list[str], mark: str) -> None:
    answer = f"[{f'{mark} '.join(given_keys)}]"
    # A key that also stands inside of its neighbours could be read in two ways.
    assume(all(answer.count(key) == 1 for key in given_keys))
    found = guard_references(answer, returned(*given_keys))
    assert found == References(tuple(given_keys), tuple(given_keys), (), ())


@given(key=foreign_keys, form=st.sampled_from(EXACT_FORMS), other=keys)
def test_any_key_that_was_not_returned_is_unknown(key: str, form: str, other: str) -> None:
    assume(other not in written(form, key))
    found = guard_references(written(form, key), returned(other))
    assert (found.valid, found.unknown, found.unused) == ((), (key,), (other,))


@given(key=plain_foreign_keys, form=st.sampled_from(FORMS))
@example("xay#chunk-1", "_{}_")
def test_any_key_without_blanks_that_was_not_returned_is_unknown_in_every_form(
    key: str, form: str
) -> None:
    glued = re.search(r"\w\w{}", form) or ("vector:" in key and re.search(r"{}\w", form))
    # No blank tells where the sentence ends and the key begins.
    assume(not glued and not (re.search("见{}|据{}", form) and not key.isascii()))
    assert unknown(written(form, key)) == (key,)


@given(st.lists(PIECES | st.characters(), max_size=60).map("".join))
def test_prose_without_keys_has_no_references(text: str) -> None:
    for mark in ("#chunk-", "vector:", "rank:"):
        text = text.replace(mark, mark.upper())
    assert guard_references(text, returned(*KEYS)) == References((), (), (), KEYS)


@given(text=st.lists(PIECES | keys | st.characters(), max_size=60).map("".join), given_key=keys)
def test_the_parts_always_add_up(text: str, given_key: str) -> None:
    found = guard_references(text, returned(given_key))
    assert set(found.cited) == {*found.valid, *found.unknown}
    assert len(found.cited) == len(found.valid) + len(found.unknown)
    assert {*found.valid, *found.unused} == {given_key}
    assert all(key in text for key in found.cited)


@pytest.mark.parametrize(
    "text",
    [
        "docs/a.md#chunk-１",
        "docs/a.md#chunk-1２",
        "docs/a.md#Chunk-1",
        "docs/a.md#CHUNK-1",
        "docs/a.md#chunk-01",
        "docs/a.md#chunk-",
        "docs/a.md#chunk-x",
        "docs/a.md#chunk-1x",
        "docs/a.md#chunk--1",
        "docs/a.md#chunk-" + "1" * 19,
        "docs/a.md%23chunk-1",
        "docs/a.md # chunk-1",
        "docs/a.md",
        "#chunk-1",
        "`docs/a.md`, (the third chunk, #chunk-3)",
        "a key looks like `<doc_id>#chunk-<N>`, `vector:<id>` or `rank:<n>`",
        "rank: 1, Rank:1, rank:01, prank:1, rank:1.5, rank:x",
        "a vector: a list, std::vector:x, eigenvector:x, vector:, vector:(1)",
    ],
)
def test_what_is_no_key_is_not_cited(text: str) -> None:
    assert guard_references(text, returned("docs/a.md#chunk-1", "vector:9")).cited == ()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[docs/a.md#chunk-12]", "docs/a.md#chunk-12"),
        ("[old/docs/a.md#chunk-1]", "old/docs/a.md#chunk-1"),
        ("[xdocs/a.md#chunk-1]", "xdocs/a.md#chunk-1"),
        ("[docs/a.md#chunk-1#chunk-2]", "docs/a.md#chunk-1#chunk-2"),
        ("[docs%2Fa.md#chunk-1]", "docs%2Fa.md#chunk-1"),
        ("vector:9f-10 is cited", "vector:9f-10"),
        ("vector:9f-1-2 is cited", "vector:9f-1-2"),
        ("(rank:01) (rank:1)", "rank:1"),
    ],
)
def test_a_key_inside_of_a_longer_one_is_not_cited(text: str, key: str) -> None:
    found = guard_references(text, returned("docs/a.md#chunk-1", "vector:9f-1", "rank:0"))
    assert (found.valid, found.unknown) == ((), (key,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[my notes.md#chunk-9, a, b.md#chunk-8]", ("my notes.md#chunk-9", "a, b.md#chunk-8")),
        ("[docs/a.md#chunk-1; my notes.md#chunk-9]", ("my notes.md#chunk-9",)),
        ("[my notes.md#chunk-9; docs/a.md#chunk-1]", ("my notes.md#chunk-9",)),
        ("[a b.md#chunk-1 and c d.md#chunk-2]", ("a b.md#chunk-1", "c d.md#chunk-2")),
        ("[notes [draft] (v2).md#chunk-2]", ("notes [draft] (v2).md#chunk-2",)),
        ("[notes [draft.md#chunk-2]", ("draft.md#chunk-2",)),
        ("(as the guide docs/b.md#chunk-2 says)", ("docs/b.md#chunk-2",)),
        ("(docs/a.md#chunk-1 says so, while b c.md#chunk-2)", ("c.md#chunk-2",)),
        ("[closed] my notes.md#chunk-9", ("notes.md#chunk-9",)),
        ("[docs/a.md#chunk-1], my notes.md#chunk-9", ("notes.md#chunk-9",)),
        ("[docs/a.md#chunk-1, no more], my b.md#chunk-2, c", ("b.md#chunk-2",)),
        ("[docs/a.md#chunk-1\n, my b.md#chunk-2]", ("b.md#chunk-2",)),
        ("[vector:1, my b.md#chunk-2, rank:3]", ("vector:1", "my b.md#chunk-2", "rank:3")),
        ("[vector:1#chunk-2, vector:1.]", ("vector:1#chunk-2", "vector:1")),
        ("vector:1#chunk-2的说明", ("vector:1#chunk-2",)),
        ("vector:a-1: vector:a-2! vector:a-3.", ("vector:a-1", "vector:a-2", "vector:a-3")),
        ("—a.md#chunk-9, -b.md#chunk-9", ("a.md#chunk-9", "b.md#chunk-9")),
        ("根据x.md#chunk-4，见y.md#chunk-4。", ("x.md#chunk-4", "y.md#chunk-4")),
        ("in my notes.md#chunk-9 it says", ("notes.md#chunk-9",)),
        ("[^1]: my notes.md#chunk-9\n[^2]: a b#chunk-1", ("my notes.md#chunk-9", "a b#chunk-1")),
        ("[^1]: my notes.md#chunk-9, a b#chunk-1", ("my notes.md#chunk-9", "a b#chunk-1")),
        ("[^1]: as in notes.md#chunk-9 and so on", ("as in notes.md#chunk-9",)),
        ("[a b.md#chunk-1\nc d.md#chunk-2]", ("b.md#chunk-1", "d.md#chunk-2")),
        ('["a b.md#chunk-1", "c d.md#chunk-2"]', ("a b.md#chunk-1", "c d.md#chunk-2")),
        ("[1](a.md#chunk-1)[2](b.md#chunk-1)", ("a.md#chunk-1", "b.md#chunk-1")),
        ("`pincite cite a.md#chunk-1`", ("pincite cite a.md#chunk-1",)),
        ("a.md#chunk-1-3, a.md#chunk-5–7", ("a.md#chunk-1", "a.md#chunk-5")),
        ("https://h.example/p?q=(1)#chunk-2", ("https://h.example/p?q=(1)#chunk-2",)),
        ("see ./a.md#chunk-1, ~/b.md#chunk-1", ("./a.md#chunk-1", "~/b.md#chunk-1")),
        ("Anna’s notes.md#chunk-1 »a«.md#chunk-2", ("notes.md#chunk-1", ".md#chunk-2")),
        ("[" + "x" * 501 + "#chunk-1]", ()),
        ("[" + "字" * 167 + "#chunk-1]", ()),
        ("[" + "long " * 200 + "a.md#chunk-1]", ("a.md#chunk-1",)),
    ],
)
def test_where_an_unknown_key_begins(text: str, expected: tuple[str, ...]) -> None:
    assert unknown(text, "docs/a.md#chunk-1") == expected


def test_keys_come_once_in_the_order_of_the_text() -> None:
    answer = "[c#chunk-1] [b#chunk-1] [z#chunk-1] [c#chunk-1] rank:7 [z#chunk-1]"
    found = guard_references(answer, returned(*(f"{name}#chunk-1" for name in "abcd")))
    assert found.cited == ("c#chunk-1", "b#chunk-1", "z#chunk-1", "rank:7")
    assert found.valid == ("c#chunk-1", "b#chunk-1")
    assert found.unknown == ("z#chunk-1", "rank:7")
    assert found.unused == ("a#chunk-1", "d#chunk-1")


def test_a_key_of_two_corpora_is_one_key() -> None:
    results = [{"document_id": "a#chunk-0", "corpus": corpus} for corpus in ("docs", "memory")]
    assert guard_references("[a#chunk-0]", results).valid == ("a#chunk-0",)
    assert guard_references("", results).unused == ("a#chunk-0",)


def test_the_longest_returned_key_wins() -> None:
    given_keys = ("b#chunk-1", "my b#chunk-1", "b#chunk-1#chunk-2")
    answer = "[my b#chunk-1], [b#chunk-1#chunk-2]"
    found = guard_references(answer, returned(*given_keys))
    assert found.valid == ("my b#chunk-1", "b#chunk-1#chunk-2")
    assert found.unused == ("b#chunk-1",)


def test_a_result_without_key_is_an_error() -> None:
    with pytest.raises(KeyError):
        guard_references("", [{"source": "a.md"}])


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "([{【",
        "#chunk-",
        "#chunk-1",
        "a#chunk-1 ",
        "[a#chunk-1,",
        "a#chunk-1#chunk-",
        '["`(a b',
        "`a#chunk-1`",
        "_",
        "#chunk-1____",
        "[^",
        "see ",
        "vector:",
        "vector:a-",
        "rank:1.",
        "a#chunk-1" + ", " * 50,
        "]" * 50 + "a#chunk-1",
        "\na#chunk-1",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    given_keys = ("#chunk-1" * 60, "[" * 300 + "#chunk-1", "vector:" + "a-" * 200, *KEYS)
    for answer in (piece * (100_000 // len(piece)), piece * (100_000 // len(piece)) + "x#chunk-1"):
        started = time.perf_counter()
        guard_references(answer, returned(*given_keys))
        assert time.perf_counter() - started < 3


def test_the_example_of_the_manual_runs_and_prints_what_it_says() -> None:
    page = (ROOT / "docs" / "citing.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == shown
