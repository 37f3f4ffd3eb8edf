"""The lookup from a request to its answer: modes, attempts, rules, lines, scopes."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pincite.embedding.hash import HashEmbedder
from pincite.embedding.port import ScoreProfile
from pincite.retrieval.result import LookupResult
from pincite.store.memory import MemoryStore
from pincite.store.port import TextQuery, VectorQuery
from pincite.testing.faults import Fault, changing, put, raising
from pincite.testing.lookups import (
    FRUIT,
    Query,
    codes,
    considered,
    document,
    fruit_corpus,
    keys,
    look,
    parts_of,
    watched,
    write,
)
from pincite.testing.small_corpus import SmallCorpus

SCOPES = ["*", "%", "null", 'a" or "1" == "1', "\\", "团队"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCorpus]:
    """For tests that only ask."""
    with fruit_corpus(tmp_path_factory.mktemp("corpus")) as made:
        yield made


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[SmallCorpus]:
    """For tests that write, or count lookups."""
    with fruit_corpus(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def old_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCorpus]:
    """The corpus on a store without full text."""
    folder = tmp_path_factory.mktemp("old")
    with fruit_corpus(folder, store=MemoryStore(full_text=False)) as made:
        yield made


@pytest.fixture(scope="module")
def teams(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCorpus]:
    """Documents of several categories and scopes."""
    with fruit_corpus(tmp_path_factory.mktemp("teams")) as made:
        write(made, "a", "apples in a pie", category="food", kb_scope="team")
        write(made, "b", "bees and honey", category="animals", kb_scope="team")
        write(made, "c", "bees of another team", category="animals", kb_scope="foreign")
        write(made, "exam", "apples there", kb_scope="rag-eval")
        for number, scope in enumerate(SCOPES):
            write(made, f"mine-{number}", "apples here", kb_scope=scope)
        yield made


def ask(corpus: SmallCorpus, query: str = "apples", /, **options: Any) -> LookupResult:
    return look(parts_of(corpus), query, **options)


def failing_embed(corpus: SmallCorpus, fault: Fault) -> Any:
    return put(corpus.embedder, "embed", fault)


def failing_search(corpus: SmallCorpus, fault: Fault, asked: type[Query]) -> Any:
    """The store with a fault in one kind of search."""
    return put(corpus.store, "search", fault, lambda _, query: isinstance(query, asked))


def test_the_passage_that_has_the_words_comes_first(corpus: SmallCorpus) -> None:
    result = ask(corpus, "pears green")
    assert keys(result)[0] == "fruit#chunk-1"
    assert result.results[0]["excerpt"] == "pears are green"
    assert (result.evidence_status, result.generation) == ("SUFFICIENT", 1)
    assert (result.trace.selected_attempt, result.trace.fallback_reason) == (
        "UNFILTERED_VECTOR",
        None,
    )
    assert codes(result) == []


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_every_block_says_what_the_kept_text_says(corpus: SmallCorpus, mode: str) -> None:
    kept = "\n".join(FRUIT)
    result = ask(corpus, "green pears and red apples", mode=mode)
    assert len(result.blocks) == 2
    for block in result.blocks:
        assert block.content == kept[slice(block.char_start, block.char_end)]


def test_the_document_cap_and_the_cut_are_in_the_trace(corpus: SmallCorpus) -> None:
    result = ask(corpus, return_n=1)
    assert [one.reason for one in result.trace.dropped] == ["document_cap", "return_n"]
    assert len(considered(result)) == 3


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_the_number_of_blocks_never_changes_what_was_considered(
    fresh: SmallCorpus, mode: str
) -> None:
    for number in range(12):
        write(fresh, f"d{number}", f"shared words {number}", f"shared more {number}")
    results = [ask(fresh, "shared words", return_n=n, retrieve_k=9, mode=mode) for n in (1, 3, 9)]
    assert len({frozenset(considered(result)) for result in results}) == 1
    assert [len(result.blocks) for result in results] == [1, 3, 9]
    assert keys(results[2])[:3] == keys(results[1])


def test_stages_tell_how_many_went_in_and_came_out(corpus: SmallCorpus) -> None:
    result = ask(corpus, return_n=1, mode="hybrid")
    assert [(s.name, s.corpus, s.entered, s.left) for s in result.trace.stages] == [
        ("l0", "docs", 0, 0),
        ("embed", "docs", 1, 1),
        # Three rows by vector, one of them by words too.
        ("search", "docs", 4, 3),
        ("current", "docs", 3, 3),
        ("threshold", "docs", 3, 3),
        ("rerank", "docs", 3, 3),
        ("adjust", "docs", 3, 3),
        ("sort", "docs", 3, 3),
        ("merge", "docs", 3, 3),
        ("document_cap", "docs", 3, 2),
        ("return_n", "docs", 2, 1),
        ("pack", "docs", 1, 1),
    ]


def test_a_corpus_without_a_generation_gives_no_evidence_and_says_so(corpus: SmallCorpus) -> None:
    result = ask(corpus, corpus="web", session_id="s")
    assert (result.evidence_status, result.generation) == ("NONE", None)
    assert (codes(result), result.trace.attempts) == (["corpus_empty"], [])


def test_switched_off_gives_no_evidence_and_says_so(corpus: SmallCorpus) -> None:
    result = ask(corpus, enabled=False)
    assert (result.evidence_status, codes(result)) == ("NONE", ["rag_disabled"])
    assert (result.trace.attempts, result.trace.stages) == ([], [])


def test_blank_space_around_the_query_is_no_part_of_it(corpus: SmallCorpus) -> None:
    padded, plain = ask(corpus, " \n pears "), ask(corpus, "pears")
    assert (padded.query, padded.transformed_query) == (" \n pears ", "pears")
    assert padded.results == plain.results


# Modes


def test_hybrid_gives_each_candidate_the_scores_of_both_legs(corpus: SmallCorpus) -> None:
    result = ask(corpus, "pears", mode="hybrid")
    assert [(a.name, a.mode) for a in result.trace.attempts] == [("UNFILTERED_VECTOR", "hybrid")]
    first, second = (block.candidate for block in result.blocks)
    assert (first.evidence_key, first.hit_reasons) == ("fruit#chunk-1", ("dense", "lexical"))
    assert first.dense == pytest.approx(result.trace.attempts[0].top_score)
    assert first.lexical is not None
    assert first.score == first.fused
    assert (second.hit_reasons, second.lexical) == (("dense",), None)
    assert (first.fused or 0) > (second.fused or 0) > 0
    assert codes(result) == []


def test_lexical_alone_finds_by_words_and_asks_no_embedder(corpus: SmallCorpus) -> None:
    embedder = failing_embed(corpus, raising(AssertionError("Not to be asked.")))
    queries: list[Query] = []
    parts = parts_of(corpus, embedder=embedder, store=watched(corpus.store, queries))
    result = look(parts, "are plums blue?", mode="lexical")
    (block,) = result.blocks
    assert (block.candidate.evidence_key, block.candidate.hit_reasons) == (
        "fruit#chunk-2",
        ("lexical",),
    )
    assert block.candidate.score == block.candidate.lexical
    assert (block.candidate.dense, block.candidate.fused) == (None, None)
    assert (result.evidence_status, codes(result)) == ("SUFFICIENT", [])
    assert [type(query) for query in queries] == [TextQuery]
    assert "embed" not in {stage.name for stage in result.trace.stages}


# Attempts


def test_a_category_filters_the_first_attempt(teams: SmallCorpus) -> None:
    result = ask(teams, "bees", mode="dense", category="animals", kb_scope="team")
    assert keys(result) == ["b#chunk-0"]
    (attempt,) = result.trace.attempts
    assert (attempt.name, attempt.outcome, attempt.hit_count) == ("FILTERED_VECTOR", "evidence", 1)
    assert attempt.filter == '(kb_scope == "team") and (category == "animals")'
    assert result.blocks[0].candidate.hit_reasons == ("dense", "category")


def test_no_evidence_in_the_category_drops_the_category_only(teams: SmallCorpus) -> None:
    result = ask(teams, "bees", category="plants", kb_scope="team")
    assert keys(result) == ["b#chunk-0", "a#chunk-0"]
    assert [a.name for a in result.trace.attempts] == ["FILTERED_VECTOR", "UNFILTERED_VECTOR_RETRY"]
    assert [a.outcome for a in result.trace.attempts] == ["no_evidence", "evidence"]
    assert result.trace.attempts[1].filter == 'kb_scope == "team"'
    assert result.trace.selected_attempt == "UNFILTERED_VECTOR_RETRY"
    assert result.trace.fallback_reason == "filtered_vector_no_evidence"


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_weak_evidence_in_the_category_calls_for_the_retry(teams: SmallCorpus, mode: str) -> None:
    result = ask(teams, "bees", category="food", kb_scope="team", low_quality=0.3, mode=mode)
    assert keys(result)[0] == "b#chunk-0"
    assert result.trace.fallback_reason == "filtered_vector_low_quality"


def test_nothing_in_both_attempts_returns_nothing(teams: SmallCorpus) -> None:
    result = ask(teams, "bees", category="plants", kb_scope="nobody")
    assert (result.evidence_status, result.blocks) == ("NONE", ())
    assert result.trace.fallback_reason == "filtered_vector_no_evidence"


def test_without_a_category_there_is_no_retry(teams: SmallCorpus) -> None:
    result = ask(teams, "bees", threshold=1.0)
    assert (result.evidence_status, len(result.trace.attempts)) == ("NONE", 1)
    assert {one.reason for one in result.trace.dropped} == {"below_threshold"}


def test_what_only_the_lexical_leg_found_is_exempt_from_the_threshold(corpus: SmallCorpus) -> None:
    result = ask(corpus, "plums", mode="hybrid", threshold=1.0, retrieve_k=1)
    assert keys(result) == []
    store = failing_search(corpus, changing(lambda _: []), VectorQuery)
    result = look(parts_of(corpus, store=store), "plums", mode="hybrid", threshold=1.0)
    assert keys(result) == ["fruit#chunk-2"]


def test_lines_come_from_the_models_profile_and_the_request_overrides_them(
    corpus: SmallCorpus,
) -> None:
    profile = ScoreProfile(threshold=0.99, low_quality=0.99, weak=0.99)
    parts = parts_of(corpus, embedder=HashEmbedder(replace(corpus.embedder.info, profile=profile)))
    assert look(parts, "apples").evidence_status == "NONE"
    weak = look(parts, "apples", threshold=-1.0)
    assert (weak.evidence_status, len(weak.blocks)) == ("WEAK", 2)
    assert look(parts, "apples", threshold=-1.0, weak=0.1).evidence_status == "SUFFICIENT"


# Scopes


def test_the_excluded_scope_is_seen_only_when_it_is_named(teams: SmallCorpus) -> None:
    assert "exam#chunk-0" not in considered(ask(teams, mode="hybrid"))
    assert considered(ask(teams, mode="hybrid", kb_scope="rag-eval")) == {"exam#chunk-0"}
    assert "exam#chunk-0" in considered(ask(teams, mode="hybrid", exclude_scopes=()))


@pytest.mark.parametrize("number", range(len(SCOPES)), ids=SCOPES)
@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_a_scope_matches_only_itself(teams: SmallCorpus, number: int, mode: str) -> None:
    result = ask(teams, kb_scope=SCOPES[number], mode=mode)
    assert considered(result) == {f"mine-{number}#chunk-0"}
    assert result.kb_scope == SCOPES[number]


# Rows that are not current


def test_rows_of_an_older_version_are_dropped_as_stale(fresh: SmallCorpus) -> None:
    opened = fresh.open("fruit", "apples are gone", [(0, 15)], category="food")
    asyncio.run(fresh.upsert(opened))
    fresh.stamp(opened)
    result = ask(fresh, "apples pears plums", mode="hybrid")
    assert (keys(result), result.results[0]["excerpt"]) == (["fruit#chunk-0"], "apples are gone")
    assert {(one.evidence_key, one.reason) for one in result.trace.dropped} == {
        ("fruit#chunk-1", "stale"),
        ("fruit#chunk-2", "stale"),
    }


def test_rows_of_a_removed_document_are_dropped_as_stale(fresh: SmallCorpus) -> None:
    write(fresh, "kept", "apples again")
    fresh.catalog.journal.open_removals(fresh.writer, ["fruit"])
    fresh.catalog.documents.stamp_removed(fresh.writer, ["fruit"])
    result = ask(fresh)
    assert keys(result) == ["kept#chunk-0"]
    assert {one.reason for one in result.trace.dropped} == {"stale"}


def test_rows_that_are_written_but_not_stamped_yet_are_seen(fresh: SmallCorpus) -> None:
    opened = fresh.open("fruit", "apples are new", [(0, 14)], category="food")
    asyncio.run(fresh.upsert(opened))
    assert ask(fresh, return_n=1).results[0]["excerpt"] == "apples are new"


# The line in the catalogue


def test_a_lookup_leaves_one_line_in_the_catalogue_without_its_query(fresh: SmallCorpus) -> None:
    result = ask(fresh, "apples", mode="hybrid", category="food")
    (line,) = fresh.catalog.activity.lookups("docs")
    assert (line.trace_id, line.hit_count, line.corpus) == (result.trace_id, 2, "docs")
    assert (line.evidence_status, line.degradations, line.mode) == ("SUFFICIENT", (), "hybrid")
    assert (line.selected_attempt, line.generation) == ("FILTERED_VECTOR", 1)
    assert [(one.evidence_key, one.content_sha256) for one in line.blocks] == [
        (b.candidate.evidence_key, b.candidate.content_sha256) for b in result.blocks
    ]
    assert line.query is None
    assert "apples" not in repr(line)


def test_the_query_is_kept_where_that_is_allowed(corpus: SmallCorpus) -> None:
    look(parts_of(corpus, log_queries=True), "apples", trace_id="t-1")
    line = corpus.catalog.activity.lookup("t-1")
    assert line is not None
    assert line.query == "apples"


def test_what_the_answer_lacks_is_in_its_line(old_store: SmallCorpus) -> None:
    ask(old_store, mode="hybrid", category="plants")
    line = old_store.catalog.activity.lookups("docs")[0]
    assert line.degradations == ("hybrid_unsupported",)
    assert line.fallback_reason == "filtered_vector_no_evidence"


def test_the_answer_is_one_json_document_with_every_key(corpus: SmallCorpus) -> None:
    full, empty = document(ask(corpus)), document(ask(corpus, enabled=False))
    assert full.keys() == empty.keys()
    assert full["retrievalTrace"].keys() == empty["retrievalTrace"].keys()
    assert [one["document_id"] for one in full["results"]] == [
        one["evidenceKey"] for one in full["context"]["blocks"]
    ]
