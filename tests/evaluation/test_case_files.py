"""Files of golden cases: what is read, and what is refused with which words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import CasesInvalid
from pincite.evaluation.case_files import read_cases
from pincite.evaluation.cases import (
    Attempt,
    CaseFile,
    DropReason,
    FallbackReason,
    GoldenCase,
    HitReason,
    json_schema,
)
from pincite.retrieval import candidates, postprocess, search

CASE = {"id": "one", "query": "Who holds the lease?", "expectedSources": ["notes/lease.md"]}


def written(tmp_path: Path, document: Any, name: str = "cases.json") -> Path:
    path = tmp_path / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


def with_case(**changes: Any) -> dict[str, Any]:
    case = {**CASE, **changes}
    return {"cases": [{name: value for name, value in case.items() if value is not None}]}


def refusal(tmp_path: Path, document: Any, name: str = "cases.json") -> str:
    with pytest.raises(CasesInvalid) as caught:
        read_cases(written(tmp_path, document, name))
    return str(caught.value)


def test_yaml_and_json_say_the_same(tmp_path):
    text = """\
# Ours.
cases:
  - id: one
    query: Who holds the lease?
    expectedSources: [notes/lease.md]
"""
    from_yaml = read_cases(written(tmp_path, text, "cases.yaml"))
    from_json = read_cases(written(tmp_path, {"cases": [CASE]}))
    assert from_yaml == from_json
    (case,) = from_yaml.cases
    assert (case.id, case.expected, case.kb_scope) == ("one", ["notes/lease.md"], "rag-eval")


def test_defaults_hold_for_cases_that_do_not_say_otherwise(tmp_path):
    document = {
        "defaults": {"kbScope": "", "tags": ["ours"], "mode": "dense"},
        "cases": [CASE, {**CASE, "id": "two", "kbScope": "s", "tags": []}],
    }
    first, second = read_cases(written(tmp_path, document)).cases
    assert (first.kb_scope, first.tags, first.mode) == ("", ["ours"], "dense")
    assert (second.kb_scope, second.tags, second.mode) == ("s", [], "dense")


def test_a_folder_is_all_its_files_but_the_accepted_report(tmp_path):
    written(tmp_path, {"cases": [{**CASE, "id": "b"}]}, "b.json")
    written(tmp_path, "cases: [{id: a, query: q, answerable: false}]", "A.YML")
    written(tmp_path, {"kind": "a report"}, "accepted.json")
    written(tmp_path, "no cases at all", ".left-by-an-editor.yaml")
    (tmp_path / "below").mkdir()
    written(tmp_path / "below", "no cases at all", "c.yaml")
    assert [case.id for case in read_cases(tmp_path).cases] == ["a", "b"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"expectdSources": ["a"]},
            "unknown key 'expectdSources'; the nearest known one is 'expec",
        ),
        ({"expected_sources": ["a"]}, "nearest known one is 'expectedSources'"),
        ({"id": "a/b"}, "case 'a/b': id: "),
        ({"id": None}, "case 1 of the file: id: field required"),
        ({"query": ""}, "query: "),
        ({"expectedSources": None}, "the case asserts nothing, so it could not fail"),
        ({"expectedSources": []}, "expectedSources: "),
        ({"expectedSources": "notes/lease.md"}, "expectedSources: input should be a valid array"),
        ({"returnN": "5"}, "returnN: input should be a valid integer"),
        ({"returnN": 0}, "returnN: "),
        ({"threshold": 2}, "threshold: "),
        ({"expectedEvidenceStatus": "GOOD"}, "expectedEvidenceStatus: "),
        ({"expectedSelectedAttempt": "RETRY"}, "expectedSelectedAttempt: "),
        ({"answerable": False}, "is answerable"),
        (
            {
                "expectedSources": None,
                "answerable": False,
                "expectedEvidenceStatus": "SUFFICIENT",
            },
            "cannot expect SUFFICIENT",
        ),
        (
            {"expectedSources": None, "expectedHitReasons": ["dense"]},
            "expectedHitReasons is about expected",
        ),
        (
            {"expectedContextSources": ["b.md"], "forbiddenSources": ["b.md"]},
            "'b.md' is expected and forbidden",
        ),
        ({"forbiddenSources": ["notes/lease.md"]}, "'notes/lease.md' is expected and forbidden"),
        (
            {"expectedEvidenceKeys": ["notes/lease.md#chunk-0"]},
            "expectedSources or expectedEvidenceKeys, not both",
        ),
        (
            {"expectedSources": None, "expectedEvidenceKeys": ["notes/lease.md"]},
            "'notes/lease.md' is no evidence key",
        ),
        (
            {"forbiddenSources": ["b.md#chunk-0"]},
            "'b.md#chunk-0' is an evidence key, a source is wanted",
        ),
        ({"expectedFallbackReason": "filtered_vector_no_evidnce"}, "expectedFallbackReason: "),
        ({"expectedDropped": {"a": "retrun_n"}}, "expectedDropped.a: "),
        ({"expectedHitReasons": ["dens"]}, "expectedHitReasons.0: "),
        (
            {
                "expectedFallbackReason": "filtered_vector_failed",
                "expectedFallbackReasons": ["filtered_vector_failed"],
            },
            "expectedFallbackReason or expectedFallbackReasons, not both",
        ),
        ({"corpus": "docs, memory"}, "corpus: "),
    ],
)
def test_a_case_that_is_wrong_is_told_by_its_id_and_key(tmp_path, changes, words):
    told = refusal(tmp_path, with_case(**changes))
    assert told.startswith("CASES_INVALID: ")
    assert words in told
    assert "case 'one'" in told or "id" in changes


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("null", "holds no cases"),
        ({"cases": []}, "holds no cases"),
        ([CASE], "holds no cases"),
        ({"case": [CASE]}, "holds no cases"),
        ({"cases": [CASE], "default": {}}, "the nearest known one is 'defaults'"),
        ({"cases": [CASE], "defaults": {"tag": ["a"]}}, "the nearest known one is 'tags'"),
        ({"cases": [CASE], "documents": {"foldr": "d"}}, "the nearest known one is 'folder'"),
        ({"cases": {"one": CASE}}, "cases: input should be a valid"),
        ({"cases": ["one"]}, "case 1 of the file: "),
        ('{"cases": [', "does not parse"),
        ('{"cases": [{"id": "a", "id": "b"}]}', "the key 'id' stands twice"),
        ({"cases": [CASE], "documents": {"folder": "missing"}}, "there is no folder 'missing'"),
    ],
)
def test_a_file_that_is_wrong_is_told(tmp_path, document, words):
    assert words in refusal(tmp_path, document)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no cases"),
        ("cases:\n  - id: a\n   query: q\n", "does not parse in line 3"),
        ("cases: [{id: a, id: b, query: q}]", "does not parse in line 1: found duplicate key"),
        ("cases: [{id: a, query: 2024-01-01, answerable: false}]", "put dates between quotes"),
        ("cases: [{id: a, query: .nan, answerable: false}]", "case 'a': query: "),
        ("cases: &x [*x]", "CASES_INVALID"),
        ("a: !!python/object:os.system x", "does not parse"),
    ],
)
def test_yaml_that_is_wrong_is_told(tmp_path, text, words):
    assert words in refusal(tmp_path, text, "cases.yaml")


def test_ids_are_unique_over_files_and_whatever_the_case_of_letters(tmp_path):
    assert "Two cases have the id 'ONE'" in refusal(
        tmp_path, {"cases": [CASE, {**CASE, "id": "ONE"}]}
    )
    written(tmp_path, {"cases": [CASE]}, "cases.json")
    written(tmp_path, {"cases": [CASE]}, "more.json")
    with pytest.raises(CasesInvalid, match=r"in 'cases\.json' and 'more\.json'"):
        read_cases(tmp_path)


def test_a_source_that_no_seed_document_has_is_told_with_the_nearest(tmp_path):
    (tmp_path / "documents" / "deep").mkdir(parents=True)
    (tmp_path / "documents" / "deep" / "lease.md").write_text("A lease.", "utf-8")
    document = with_case(expectedSources=["rag-eval/deep/leases.md"])
    told = refusal(tmp_path, {**document, "documents": {"folder": "documents"}})
    assert "Case 'one' names 'rag-eval/deep/leases.md', which no seed document has." in told
    assert "The nearest is 'rag-eval/deep/lease.md'." in told


def test_a_name_on_disk_is_the_same_name_however_its_accents_are_written(tmp_path):
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "cafe\u0301.md").write_text("Coffee.", "utf-8")
    document = with_case(expectedSources=["rag-eval/caf\u00e9.md"])
    read_cases(written(tmp_path, {**document, "documents": {"folder": "documents"}}))


@pytest.mark.parametrize("name", ["expectedSources", "forbiddenSources", "expectedContextSources"])
def test_every_key_that_names_sources_is_checked(tmp_path, name):
    (tmp_path / "documents").mkdir()
    document = with_case(**{"expectedSources": None, name: ["rag-eval/a.md"]})
    assert "no seed document" in refusal(
        tmp_path, {**document, "documents": {"folder": "documents"}}
    )


def test_sources_of_other_folders_are_not_the_seeds_business(tmp_path):
    (tmp_path / "documents").mkdir()
    document = {**with_case(), "documents": {"folder": "documents"}}
    (seed,) = read_cases(written(tmp_path, document)).seeds
    assert (seed.source, seed.kb_scope) == ("rag-eval", "rag-eval")


@pytest.mark.parametrize("name", ["missing.yaml", "cases.txt", "."])
def test_there_must_be_a_file_of_cases(tmp_path, name):
    written(tmp_path, "no cases", "cases.txt")
    with pytest.raises(CasesInvalid):
        read_cases(tmp_path / name)


def test_the_published_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(json_schema())


FIELDS = sorted(field.alias or name for name, field in GoldenCase.model_fields.items())
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 30),
    st.floats(-2, 2),
    st.sampled_from(["docs", "hybrid", "SUFFICIENT", "LEGACY", "all", "", "a b"]),
    st.lists(st.sampled_from(["a", "", "b"]), max_size=2),
    st.dictionaries(st.sampled_from(["a", ""]), st.sampled_from(["b", ""]), max_size=1),
)


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5))
def test_what_the_reader_takes_fits_the_published_schema(case):
    document = {"cases": [{"id": "one", "query": "q", **case}]}
    validator = jsonschema.Draft202012Validator(json_schema())
    try:
        CaseFile.model_validate_json(json.dumps(document))
    except ValueError:
        # What no schema can say (two keys that contradict) is refused by the reader alone.
        return
    assert list(validator.iter_errors(document)) == []


def test_codes_are_those_of_the_lookup():
    assert set(get_args(FallbackReason)) == set(search.REASONS.values())
    assert set(get_args(DropReason)) == {
        postprocess.BELOW_THRESHOLD,
        postprocess.DUPLICATE,
        postprocess.DOCUMENT_CAP,
        postprocess.RETURN_N,
        postprocess.BUDGET,
        postprocess.STALE,
    }
    assert set(get_args(HitReason)) == {
        candidates.DENSE,
        candidates.LEXICAL,
        candidates.CATEGORY,
        candidates.L0_CATEGORY,
    }
    assert {search.FILTERED, search.UNFILTERED, search.RETRY} < set(get_args(Attempt))
