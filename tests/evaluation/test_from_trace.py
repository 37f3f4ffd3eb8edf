"""A lookup of the log becomes a golden case to edit."""

from __future__ import annotations

import json

import pytest

from pincite.catalog.lookup_lines import LookupLine, Returned
from pincite.errors import CasesInvalid, RequestInvalid
from pincite.evaluation.case_files import read_cases
from pincite.evaluation.cases import EDIT_ME
from pincite.evaluation.from_trace import add_case, case_of_lookup
from pincite.identity import text_sha256

QUERY = 'Who "holds" it: the lease # 漢?'


def line(**changes):
    block = Returned("docs/a.md#chunk-0", "docs", 1, "0" * 64, 0.5, ("dense",))
    values = {
        "trace_id": "4f0c2a/77-and-more",
        "corpus": "docs",
        "latency_ms": 9,
        "evidence_status": "WEAK",
        "hit_count": 1,
        "fallback_reason": "",
        "degradations": (),
        "mode": "dense",
        "query_sha256": text_sha256(QUERY),
        "query": QUERY,
        "blocks": (block,),
    }
    return LookupLine(**{**values, **changes})


def added(path, found=None, **options):
    found = found or line()
    case = case_of_lookup(found, **options)
    add_case(path, case, found)
    return case


def test_the_case_asks_what_the_lookup_asked(tmp_path):
    path = tmp_path / "cases.yaml"
    added(path)
    (case,) = read_cases(path).cases
    assert (case.id, case.query, case.corpus) == ("trace-4f0c2a-77-an", QUERY, "docs")
    assert (case.kb_scope, case.mode, case.tags) == ("", "dense", ["from-trace"])
    assert case.expected_sources == [EDIT_ME]
    assert "\n    # Returned, WEAK: 'docs/a.md#chunk-0'\n    expected" in path.read_text("utf-8")


def test_a_case_asked_as_usual_names_no_mode():
    assert "mode" not in case_of_lookup(line(), usual_mode="dense")
    assert case_of_lookup(line(), usual_mode="hybrid")["mode"] == "dense"


@pytest.mark.parametrize(
    "text",
    [
        "# Ours.\ncases:\n  - id: one   # the first\n    query: 'q'\n    answerable: false\n",
        "cases:\n- id: one\n  query: q\n  answerable: false",
        "defaults: {tags: [a]}\ncases:\n    -   id: one\n        query: q\n        answerable: no\n"
        .replace("no\n", "false\n\n# end\n"),
    ],
)  # fmt: skip
def test_what_stands_in_the_file_stays_as_it_is(tmp_path, text):
    path = tmp_path / "cases.yaml"
    path.write_text(text, "utf-8")
    added(path)
    added(path, line(trace_id="second"))
    assert path.read_text("utf-8").startswith(text)
    assert [case.id for case in read_cases(path).cases] == ["one", "trace-4f0c2a-77-an",
                                                            "trace-second"]  # fmt: skip
    assert [one.name for one in tmp_path.iterdir()] == ["cases.yaml"]


def test_mark_and_line_ends_of_the_file_stay(tmp_path):
    path = tmp_path / "cases.yaml"
    before = b"\xef\xbb\xbfcases:\r\n  - {id: one, query: q, answerable: false}\r\n"
    path.write_bytes(before)
    added(path)
    after = path.read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == after.count(b"\r\n")
    assert len(read_cases(path).cases) == 2


def test_json_gets_the_case_too(tmp_path):
    path = tmp_path / "cases.json"
    path.write_text('{"cases": [{"id": "one", "query": "q", "answerable": false}]}', "utf-8")
    case = added(path, case_id="named")
    assert json.loads(path.read_text("utf-8"))["cases"][1] == case
    assert case["id"] == "named"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cases: [{id: one, query: q, answerable: false}]\n", "does not end with the list"),
        (
            "cases:\n  - {id: a, query: q, answerable: false}\ndefaults: {tags: [a]}\n",
            "does not end with the list",
        ),
        ("cases: 3\n", "holds no cases"),
        ("a: [\n", "does not parse"),
        ("cases:\n  - {id: trace-4f0c2a-77-an, query: q, answerable: false}\n", "Two cases have"),
    ],
)
def test_a_file_that_cannot_take_it_is_left_as_it_was(tmp_path, text, words):
    path = tmp_path / "cases.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(CasesInvalid, match=words):
        added(path)
    assert path.read_text("utf-8") == text
    assert [one.name for one in tmp_path.iterdir()] == ["cases.yaml"]


def test_two_at_once_lose_nothing(tmp_path):
    path = tmp_path / "cases.yaml"
    added(path)
    (tmp_path / ".cases.draft.yaml").write_text("", "utf-8")
    before = path.read_bytes()
    with pytest.raises(CasesInvalid, match="something else adds a case just now"):
        added(path, line(trace_id="second"))
    assert path.read_bytes() == before


def test_a_question_that_is_not_kept_must_be_given(tmp_path):
    with pytest.raises(RequestInvalid, match="keeps no question"):
        case_of_lookup(line(query=None))
    with pytest.raises(RequestInvalid, match="asked another question"):
        case_of_lookup(line(query=None), query="Another?")
    assert case_of_lookup(line(query=None), query=QUERY)["query"] == QUERY


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(CasesInvalid, match="cannot be written"):
        added(tmp_path / "missing" / "cases.yaml")
