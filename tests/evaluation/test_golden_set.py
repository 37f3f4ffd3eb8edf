"""The golden set itself: every kind of case is in it, and cases and documents fit together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import regex

from pincite.documents.frontmatter import Split, split_frontmatter
from pincite.evaluation.case_files import ACCEPTED, CaseSet, read_cases
from pincite.evaluation.cases import GoldenCase
from pincite.evaluation.report.document import read_report
from pincite.identity import parse_chunk_key
from pincite.scopes import EVALUATION_SCOPE

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
LANGUAGES = {"en", "zh"}
KINDS = {
    "category",
    "cross-language",
    "decoy",
    "document-cap",
    "duplicate",
    "frontmatter-only",
    "hint",
    "mode",
    "no-answer",
    "paraphrase",
    "plain",
    "rare-term",
    "scope",
    "top-one",
    "two-chunks",
    "weak",
}
KNOWN_FIELDS = {"title", "category", "keywords", "aliases", "tags", "summary"}
SYNTAX = "summary:"


def document_of(name: str) -> str:
    """The source that a name is, or that an evidence key is of."""
    key = parse_chunk_key(name)
    return name if key is None else key.doc_id


def retries(case: GoldenCase) -> bool:
    retried = case.expected_selected_attempt == "UNFILTERED_VECTOR_RETRY"
    return retried and bool(case.fallback_reasons) and bool(case.expected)


def is_hinted(case: GoldenCase) -> bool:
    filtered = case.expected_selected_attempt == "FILTERED_VECTOR"
    return filtered and "l0_category" in (case.expected_hit_reasons or ())


def is_capped(case: GoldenCase) -> bool:
    dropped = "document_cap" in (case.expected_dropped or {}).values()
    return dropped and bool(case.expected_context_sources)


def leaves_no_place_for_a_second_copy(case: GoldenCase) -> bool:
    both = {"dense", "lexical"} <= set(case.expected_hit_reasons or ())
    return both and len(case.expected) == case.return_n == 2


def wants_two_of_one_document(case: GoldenCase) -> bool:
    keys = case.expected_evidence_keys or []
    return len(set(keys)) == 2 and len(set(map(document_of, keys))) == 1


ASSERTS: dict[str, Callable[[GoldenCase], bool]] = {
    "decoy": retries,
    "hint": is_hinted,
    "document-cap": is_capped,
    "duplicate": leaves_no_place_for_a_second_copy,
    "two-chunks": wants_two_of_one_document,
    "no-answer": lambda case: case.answerable is False,
    "frontmatter-only": lambda case: case.answerable is False and bool(case.must_not_contain),
    "scope": lambda case: case.kb_scope != EVALUATION_SCOPE and bool(case.forbidden_sources),
    "top-one": lambda case: case.return_n == 1 and len(case.expected) == 1,
    "category": lambda case: bool(case.category) and bool(case.expected_selected_attempt),
    "mode": lambda case: case.mode in ("dense", "lexical"),
    "weak": lambda case: case.expected_evidence_status == "WEAK" and bool(case.expected),
    "cross-language": lambda case: bool(case.expected),
}


@pytest.fixture(scope="module")
def golden() -> CaseSet:
    return read_cases(GOLDEN / "cases.yaml")


@pytest.fixture(scope="module")
def documents(golden: CaseSet) -> dict[str, Split]:
    """The seed documents taken apart, by source."""
    (seed,) = golden.seeds
    root = len(seed.source) + 1
    return {
        source: split_frontmatter((seed.folder / source[root:]).read_text("utf-8"))
        for source in seed.sources()
    }


def tagged(golden: CaseSet, tag: str) -> list[GoldenCase]:
    return [case for case in golden.cases if tag in case.tags]


def named_by(case: GoldenCase) -> set[str]:
    names = (*case.expected, *case.named_sources, *(case.expected_dropped or ()))
    return {document_of(name) for name in names}


def han(text: str) -> float:
    letters = regex.findall(r"\p{L}", text)
    return len(regex.findall(r"\p{Han}", text)) / max(len(letters), 1)


def test_there_are_at_least_forty_cases(golden):
    assert len(golden.cases) >= 40


@pytest.mark.parametrize("tag", sorted(KINDS | LANGUAGES))
def test_there_are_several_cases_of_each_kind(golden, tag):
    assert len(tagged(golden, tag)) >= 2


def test_each_case_has_a_language_and_a_kind_and_no_other_tag(golden):
    for case in golden.cases:
        assert len(LANGUAGES & set(case.tags)) == 1, case.id
        assert KINDS & set(case.tags), case.id
        assert set(case.tags) <= KINDS | LANGUAGES, case.id


def test_no_two_cases_ask_the_same_in_the_same_way(golden):
    asked = Counter((case.query, repr(case.lookup_options())) for case in golden.cases)
    assert [query for query, times in asked.items() if times > 1] == []


def test_the_language_of_a_question_is_that_of_its_tag(golden):
    for case in golden.cases:
        assert (han(case.query) > 0.3) == ("zh" in case.tags), case.id


def test_every_document_is_named_by_a_case_and_every_name_is_a_document(golden, documents):
    assert set().union(*(named_by(case) for case in golden.cases)) == set(documents)


def test_at_least_eight_documents_are_chinese(documents):
    assert sum(han(one.body) > 0.8 for one in documents.values()) >= 8


def test_every_document_describes_itself_and_they_are_of_several_categories(documents):
    for source, one in documents.items():
        assert {"title", "category", "keywords", "summary"} <= set(one.fields), source
        assert set(one.fields) <= KNOWN_FIELDS, source
    assert len({one.fields["category"] for one in documents.values()}) >= 4


def test_a_text_that_must_be_returned_stands_in_an_expected_document(golden, documents):
    for case in golden.cases:
        bodies = [documents[document_of(name)].body for name in case.expected]
        for text in case.must_contain or ():
            assert any(text in body for body in bodies), (case.id, text)


def test_a_frontmatter_only_word_stands_in_metadata_and_in_no_body(golden, documents):
    bodies = "\n".join(one.body for one in documents.values())
    metadata = [repr(one.fields) for one in documents.values()]
    for case in tagged(golden, "frontmatter-only"):
        words = [word for word in case.must_not_contain or () if word != SYNTAX]
        assert words, case.id
        for word in words:
            assert word in case.query
            assert word not in bodies
            assert any(word in one for one in metadata)


def test_syntax_of_frontmatter_stands_in_no_body(documents):
    assert not any(SYNTAX in one.body for one in documents.values())


def test_the_category_of_decoys_holds_documents_without_text(documents):
    registers = [d for d in documents.values() if d.fields["category"] == "paper registers"]
    assert len(registers) >= 2
    assert not any(one.body.strip() for one in registers)


@pytest.mark.parametrize("kind", sorted(ASSERTS))
def test_each_case_asserts_what_its_kind_is_about(golden, kind):
    assert [case.id for case in tagged(golden, kind) if not ASSERTS[kind](case)] == []


def test_a_question_and_its_source_are_in_two_languages(golden, documents):
    for case in tagged(golden, "cross-language"):
        chinese = [han(documents[document_of(name)].body) > 0.5 for name in case.expected]
        assert chinese, case.id
        assert ("zh" in case.tags) not in chinese, case.id


def test_the_accepted_report_is_on_these_cases(golden):
    accepted = read_report(GOLDEN / ACCEPTED)
    assert accepted["ok"] is True
    asked = [(case.id, case.query, sorted(case.tags)) for case in golden.cases]
    assert [(case["id"], case["query"], case["tags"]) for case in accepted["cases"]] == asked
