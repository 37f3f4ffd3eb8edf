"""One lookup over files and memory: side by side, each with its own scopes, blended by rank."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from pincite.errors import (
    EmbedderChanged,
    EmbeddingRejected,
    RequestInvalid,
    ScopeRequired,
    StoreRejected,
    StoreUnreachable,
)
from pincite.recipe import Recipe
from pincite.retrieval.hot import HotQueries
from pincite.retrieval.parts import LookupParts
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.result import LookupResult
from pincite.testing.faults import Fault, Instead, hanging, put, raising
from pincite.testing.lookups import codes, fruit_corpus, lasting, look, parts_of, write
from pincite.testing.memory_corpus import OWNER, MemoryCorpus
from pincite.testing.small_corpus import SmallCorpus

BOTH = "docs,memory"
OTHER = {**OWNER, "user_id": "u-2"}


@dataclass(frozen=True)
class Two:
    """Two corpora in one store and one catalogue."""

    docs: SmallCorpus
    memory: MemoryCorpus

    def broken(self, fault: Fault, *collections: str, **others: Any) -> LookupParts:
        """Parts whose store has the fault in these collections."""
        names = [f"pincite_{name}_g1" for name in collections]
        store = put(self.docs.store, "search", fault, lambda name, _: name in names)
        return parts_of(self.docs, store=store, **others)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    folder = tmp_path_factory.mktemp("two")
    with fruit_corpus(folder) as docs:
        memory = MemoryCorpus(folder, store=docs.store, catalog=docs.catalog)
        asyncio.run(memory.create())
        for number in range(3):
            write(docs, f"apples-{number}", *[f"apples of the farm {number} {n}" for n in range(4)])
        write(memory, "same", "apples that we talked about", "apples, and more apples")
        write(memory, "pie", "the user likes apples in a pie", "apples with cream", "apples raw")
        write(memory, "vault", "apples, apples, apples", title="Vault", **OTHER)
        write(docs, "same", "apples in a file of this name")
        write(docs, "exam", "apples apples apples", kb_scope="rag-eval")
        yield Two(docs, memory)


def ask(two: Two, query: str = "apples", **options: Any) -> LookupResult:
    return look(parts_of(two.docs), query, **{"corpus": BOTH, **OWNER, **options})


def ranked(result: LookupResult) -> list[tuple[str, str]]:
    return [(b.candidate.corpus, b.candidate.evidence_key) for b in result.blocks]


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_the_ranks_of_the_corpora_are_blended(two: Two, mode: str) -> None:
    alone = {name: ranked(ask(two, corpus=name, mode=mode)) for name in ("docs", "memory")}
    together = ranked(ask(two, mode=mode, return_n=6))
    pairs = zip(alone["docs"], alone["memory"], strict=False)
    assert together == [one for pair in pairs for one in pair][:6]
    turned = ranked(ask(two, corpus="memory,docs", mode=mode, return_n=6))
    assert [corpus for corpus, _ in turned] == ["memory", "docs"] * 3


def test_return_n_counts_the_blocks_of_all_corpora(two: Two) -> None:
    result = ask(two, return_n=3)
    assert [corpus for corpus, _ in ranked(result)] == ["docs", "memory", "docs"]
    assert {one.corpus for one in result.trace.dropped if one.reason == "return_n"} == {
        "docs",
        "memory",
    }


def test_each_corpus_is_bound_by_its_own_scopes(two: Two) -> None:
    result = ask(two, return_n=50, max_chunks_per_document=50)
    found = {key.split("#")[0] for corpus, key in ranked(result) if corpus == "memory"}
    assert found == {"same", "pie"}
    text = result.to_json()
    assert "vault" not in text.casefold()
    assert "exam" not in text
    filters = {attempt.corpus: attempt.filter for attempt in result.trace.attempts}
    assert "user_id" not in filters["docs"]
    assert '(user_id == "u-1")' in filters["memory"]
    assert 'kb_scope not in ["rag-eval"]' in filters["memory"]


def test_another_user_gets_what_is_theirs_and_the_same_files(two: Two) -> None:
    mine, theirs = ask(two, return_n=50), ask(two, return_n=50, **OTHER)
    files = [[one for one in ranked(r) if one[0] == "docs"] for r in (mine, theirs)]
    assert files[0] == files[1]
    assert {key for corpus, key in ranked(theirs) if corpus == "memory"} == {"vault#chunk-0"}


@pytest.mark.parametrize("missing", sorted(OWNER))
def test_a_missing_id_of_one_corpus_refuses_all(missing: str) -> None:
    with pytest.raises(ScopeRequired, match=missing):
        LookupRequest("apples", corpus=BOTH, **{**OWNER, missing: None})  # type: ignore[arg-type]


def test_the_cap_holds_for_each_document_of_each_corpus(two: Two) -> None:
    result = ask(two, return_n=50, max_chunks_per_document=1)
    documents = [(corpus, key.split("#")[0]) for corpus, key in ranked(result)]
    assert len(set(documents)) == len(documents)
    assert {("docs", "same"), ("memory", "same")} <= set(documents)
    dropped = [one for one in result.trace.dropped if one.reason == "document_cap"]
    assert {one.corpus for one in dropped} == {"docs", "memory"}


def test_equal_keys_of_two_corpora_stay_apart(two: Two) -> None:
    result = ask(two, return_n=50)
    same = [block for block in result.blocks if block.candidate.evidence_key == "same#chunk-0"]
    assert [block.candidate.corpus for block in same] == ["docs", "memory"]
    assert len({block.content for block in same}) == 2
    shown = [one for one in result.results if one["document_id"] == "same#chunk-0"]
    assert [one["corpus"] for one in shown] == ["docs", "memory"]
    assert not [one for one in result.trace.dropped if one.reason == "duplicate"]


def test_every_entry_of_the_trace_names_its_corpus(two: Two) -> None:
    trace = lasting(ask(two, return_n=3, category="plants", mode="hybrid"))["retrievalTrace"]
    of_one = {"docs", "memory"}
    assert {one["corpus"] for one in trace["attempts"]} == of_one
    assert {one["corpus"] for one in trace["dropped"]} == of_one
    stages = {name: set() for name in {one["name"] for one in trace["stages"]}}
    for one in trace["stages"]:
        stages[one["name"]].add(one["corpus"])
    overall = {name for name, corpora in stages.items() if corpora == {BOTH}}
    assert overall == {"blend", "return_n", "pack"}
    assert all(corpora == of_one for name, corpora in stages.items() if name not in overall)


def test_each_block_has_the_generation_and_the_answer_has_none(two: Two) -> None:
    result = ask(two)
    assert result.generation is None
    assert {block.candidate.generation for block in result.blocks} == {1}
    assert result.corpus == BOTH


def test_one_line_is_kept_for_all_of_them(two: Two) -> None:
    result = ask(two, trace_id="t-both")
    line = two.docs.catalog.activity.lookup("t-both")
    assert line is not None
    assert (line.corpus, line.generation, len(line.blocks)) == (BOTH, None, len(result.blocks))
    for name in ("docs", "memory"):
        assert line.trace_id in [one.trace_id for one in two.docs.catalog.activity.lookups(name)]


@pytest.mark.parametrize("gone", ["docs", "memory"])
def test_a_corpus_that_fails_beside_another_is_a_degradation(two: Two, gone: str) -> None:
    parts = two.broken(raising(StoreUnreachable("Gone.")), gone)
    result = look(parts, "apples", corpus=BOTH, mode="hybrid", **OWNER)
    assert {corpus for corpus, _ in ranked(result)} == {"docs", "memory"} - {gone}
    lost = [(one.stage, one.code) for one in result.trace.degradations if one.corpus == gone]
    assert lost == [("search", "store_unreachable")]
    assert ("lookup", BOTH, "store_unreachable") in [
        (one.stage, one.corpus, one.code) for one in result.trace.degradations
    ]


def test_a_corpus_that_hangs_does_not_take_the_other_with_it(two: Two) -> None:
    parts = two.broken(hanging(), "memory")
    result = look(parts, "apples", corpus=BOTH, timeout_ms=300, **OWNER)
    assert {corpus for corpus, _ in ranked(result)} == {"docs"}
    assert "store_unreachable" in codes(result)


def test_an_unexpected_failure_of_one_is_a_degradation_too(two: Two) -> None:
    parts = two.broken(raising(RuntimeError("odd")), "memory")
    result = look(parts, "apples", corpus=BOTH, **OWNER)
    assert {corpus for corpus, _ in ranked(result)} == {"docs"}
    assert "store_rejected" in codes(result)
    assert "odd" not in result.to_json()


def test_all_of_them_failing_is_the_error_of_the_first(two: Two) -> None:
    store = put(two.docs.store, "search", raising(StoreRejected("No memory.")))
    docs = put(store, "search", raising(StoreUnreachable("No docs.")), lambda n, _: "docs" in n)
    parts = parts_of(two.docs, store=docs)
    with pytest.raises(StoreUnreachable, match="No docs"):
        look(parts, "apples", corpus=BOTH, **OWNER)
    with pytest.raises(StoreRejected, match="No memory"):
        look(parts, "apples", corpus="memory,docs", **OWNER)


def test_a_query_that_the_embedder_refuses_is_refused_for_all(two: Two) -> None:
    embedder = put(two.docs.embedder, "embed", raising(EmbeddingRejected("Too long.")))
    with pytest.raises(RequestInvalid):
        look(parts_of(two.docs, embedder=embedder), "apples", corpus=BOTH, **OWNER)


def test_an_embedder_that_is_missing_for_one_is_a_degradation(two: Two) -> None:
    """Corpora have generations of their own, and may be embedded by different models."""
    other = Recipe("by-hand/1", 400, 80, "another model", 384)
    live = two.docs.catalog.generations.live

    def live_with_other(name: str) -> Any:
        found = live(name)
        return Instead(found, recipe=other) if name == "memory" else found

    def embedder_for(recipe: Recipe | None) -> Any:
        if recipe is other:
            raise EmbedderChanged("Another one.")
        return two.docs.embedder

    generations = Instead(two.docs.catalog.generations, live=live_with_other)
    catalog = Instead(two.docs.catalog, generations=generations)
    parts = parts_of(two.docs, catalog=catalog, embedder_for=embedder_for)
    result = look(parts, "apples", corpus=BOTH, **OWNER)
    assert {corpus for corpus, _ in ranked(result)} == {"docs"}
    assert [(one.corpus, one.code) for one in result.trace.degradations][-1] == (
        BOTH,
        "embedder_changed",
    )
    with pytest.raises(EmbedderChanged):
        look(parts, "apples", corpus="memory", **OWNER)


def test_a_corpus_that_holds_nothing_yet_leaves_the_answer_to_the_other(two: Two) -> None:
    result = ask(two, corpus="docs,web", session_id="s")
    assert {corpus for corpus, _ in ranked(result)} == {"docs"}
    assert [(one.corpus, one.code) for one in result.trace.degradations] == [
        ("web", "corpus_empty")
    ]


def test_a_lookup_with_an_owner_is_never_given_again(two: Two) -> None:
    parts = parts_of(two.docs, hot=HotQueries(results=10, vectors=10))
    mine = look(parts, "apples", corpus=BOTH, return_n=50, **OWNER)
    theirs = look(parts, "apples", corpus=BOTH, return_n=50, **OTHER)
    assert ranked(mine) != ranked(theirs)
    assert parts.hot.counts()["results_hits"] == 0
    # Both corpora have one embedder: its vector of the query serves all.
    assert parts.hot.counts()["vectors_hits"] >= 2


def test_the_budget_is_shared_by_all_blocks(two: Two) -> None:
    result = ask(two, return_n=50, token_budget=20)
    assert 0 < result.tokens_used <= 20
    assert {corpus for corpus, _ in ranked(result)} == {"docs", "memory"}
    assert "budget" in {one.reason for one in result.trace.dropped}


def test_the_json_of_several_has_the_keys_of_one(two: Two) -> None:
    one, several = json.loads(ask(two, corpus="docs").to_json()), json.loads(ask(two).to_json())
    assert one.keys() == several.keys()
    assert one["context"]["blocks"][0].keys() == several["context"]["blocks"][0].keys()
