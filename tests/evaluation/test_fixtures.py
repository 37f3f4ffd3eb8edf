"""Fixtures: the LookupResult and nothing else is taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from pincite.errors import FixtureContract, FixtureMismatch, RequestInvalid
from pincite.evaluation.answer import read_answer
from pincite.evaluation.fixtures import read_fixtures, write_fixture
from pincite.testing.evaluation import block, dropped, golden_case, lookup_result
from pincite.testing.lookups import document, fruit_corpus, look, parts_of

CASE = golden_case(expectedSources=["docs/a.md"])


def kept(folder, text):
    (folder / "one.json").write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
    return read_fixtures(folder, [CASE])


def test_what_is_written_is_read(tmp_path):
    result = lookup_result([block(content="漢 \u202e <b>")], [dropped("docs/b.md", 1, "return_n")])
    write_fixture(tmp_path / "new", CASE, result)
    assert read_fixtures(tmp_path / "new", [CASE]) == [read_answer(result, "it")]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["one.json"]


def test_the_answer_of_a_real_lookup_is_the_contract(tmp_path):
    with fruit_corpus(tmp_path) as corpus:
        result = document(look(parts_of(corpus), "which apples are red", kb_scope=""))
    answer = read_answer(result, "it")
    assert [one.evidence_key for one in answer.blocks] == [
        one["document_id"] for one in result["results"]
    ]
    assert answer.trace.dropped[0].stage in {"document_cap", "return_n"}


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every key of the document."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield (*at, name)
            yield from paths(one, (*at, name))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from paths(one, (*at, index))


def full() -> dict[str, Any]:
    """A result that has at least one of everything."""
    trace = {"degradations": [{"stage": "l0", "corpus": "docs", "code": "c", "message": "m"}]}
    return lookup_result([block()], [dropped("docs/b.md", 1, "return_n")], trace=trace)


@pytest.mark.parametrize("path", list(paths(full())), ids=lambda path: ".".join(map(str, path)))
def test_every_part_must_be_there_and_is_named_when_it_is_not(tmp_path, path):
    result = full()
    below: Any = result
    for part in path[:-1]:
        below = below[part]
    del below[path[-1]]
    with pytest.raises(FixtureContract) as caught:
        kept(tmp_path, {"lookupResult": result})
    assert f"{'.'.join(map(str, path))} is missing" in str(caught.value)


@pytest.mark.parametrize(
    ("blocks", "shown", "words"),
    [
        ([block(), block()], [block(), block()], "has two blocks 'docs/a.md#chunk-0': merge"),
        ([block()], [], "has other results than blocks"),
        ([block()], [block() | {"source": "docs/b.md"}], "has other results than blocks"),
        ([block()], [block(content="Another text.")], "has other results than blocks"),
        ([block(), block(index=1)], [block(index=1), block()], "has other results than blocks"),
    ],
)
def test_blocks_and_results_must_agree(tmp_path, blocks, shown, words):
    result = lookup_result(blocks) | {"results": lookup_result(shown)["results"]}
    with pytest.raises(FixtureContract, match=words):
        kept(tmp_path, {"lookupResult": result})


def test_two_corpora_may_hold_one_key(tmp_path):
    blocks = [block(), block(corpus="memory")]
    assert len(kept(tmp_path, {"lookupResult": lookup_result(blocks)})[0].blocks) == 2


def test_what_a_later_version_adds_is_ignored(tmp_path):
    result = full() | {"later": 1}
    result["context"]["blocks"][0]["later"] = 1
    assert len(kept(tmp_path, {"lookupResult": result})) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no JSON document"),
        ("[]", "has no 'lookupResult'"),
        (json.dumps({"lookupResult": full()}).replace("Chunk 0", "\\ud800"), "surrogates"),
        ('{"lookupResult": []}', "has no 'lookupResult'"),
        (json.dumps(full()), "has no 'lookupResult'"),
        ('{"lookupResult": {}}', "query is missing; transformedQuery is missing"),
        (
            json.dumps({"lookupResult": full()}).replace('"score": 0.25', '"score": NaN'),
            "NaN is no",
        ),
        (
            json.dumps({"lookupResult": full()}).replace('"score": 0.25', '"score": 1e999'),
            "retrievalTrace.dropped.0.score Input should be a finite number",
        ),
        (
            json.dumps({"lookupResult": full()}).replace('"score": 0.25', '"score": "0.25"'),
            "retrievalTrace.dropped.0.score Input should be a valid number",
        ),
        (
            json.dumps({"lookupResult": full()}).replace('"latencyMs": 20', '"latencyMs": -20'),
            "retrievalTrace.latencyMs Input should be greater than or equal to 0",
        ),
        (
            json.dumps({"lookupResult": full()}).replace('"SUFFICIENT"', '"GOOD"'),
            "evidenceStatus Input should be 'SUFFICIENT'",
        ),
    ],
)
def test_what_is_no_lookup_result_is_refused(tmp_path, text, words):
    with pytest.raises(FixtureContract) as caught:
        kept(tmp_path, text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"query": "Another?"}, "has the query 'Another?', its case asks with 'What of one?'"),
        ({"corpus": "memory"}, "has the corpus 'memory'"),
        ({"kbScope": ""}, "has the kbScope ''"),
    ],
)
def test_a_fixture_of_another_question_is_refused(tmp_path, changes, words):
    with pytest.raises(FixtureMismatch) as caught:
        kept(tmp_path, {"lookupResult": full() | changes})
    assert words in str(caught.value)


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(RequestInvalid, match="cannot be written"):
        write_fixture(tmp_path / "file", CASE, full())


def test_a_case_without_a_fixture_is_named(tmp_path):
    with pytest.raises(FixtureMismatch, match="Case 'one' has no fixture"):
        read_fixtures(tmp_path, [CASE])


def test_a_case_in_the_default_scope_takes_any(tmp_path):
    case = golden_case(kbScope="", expectedSources=["docs/a.md"])
    write_fixture(tmp_path, case, full() | {"kbScope": "team"})
    assert read_fixtures(tmp_path, [case])[0].kb_scope == "team"
