"""What the ledger, generations, roots and activity promise."""

from __future__ import annotations

import pytest

from pincite.catalog.activity import KEPT_RUNS, Run
from pincite.catalog.catalog import Catalog
from pincite.errors import CorpusEmpty, RecipeChanged, SourceConflict
from pincite.identity import text_sha256
from pincite.recipe import Recipe
from pincite.testing.catalog_suite_values import (
    CORPUS,
    GENERATION,
    TTL_MS,
    HandClock,
    failure_of,
    ledger_rows,
    start,
    take,
    write,
)

RECIPE = Recipe("window/1", 400, 80, "hash|é", 384)


def run_line(number: int, started_at: int) -> Run:
    """A run that says its number."""
    receipt = {"failures": [], "title": "ü"}
    return Run(f"r{number:05}", CORPUS, "ingest", "", "done", receipt, started_at, started_at + 1)


class LedgerRules:
    """What each evidence key has named."""

    def test_entries_are_newest_first(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a", text="old")
        write(catalog, writer, "a", text="new")
        entries = catalog.ledger.entries("a#chunk-1")
        assert [entry.version for entry in entries] == [2, 1]
        assert [entry.text_digest for entry in entries] == [text_sha256("new"), text_sha256("old")]
        assert (entries[0].char_start, entries[0].char_end) == (10, 20)
        assert (entries[0].heading, entries[0].erased) == ("Top > Sub", False)

    def test_entry_is_stamped_only_after_the_stamp(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a")
        start(catalog, writer, "a", text="failed")
        catalog.documents.fail(writer, [failure_of("a")], frozenset(["a"]))
        start(catalog, writer, "a", text="open")
        entries = catalog.ledger.entries("a#chunk-0")
        assert [(entry.version, entry.stamped) for entry in entries] == [
            (3, False),
            (2, False),
            (1, True),
        ]

    def test_removed_document_keeps_its_entries(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a")
        catalog.journal.open_removals(writer, ["a"])
        catalog.documents.stamp_removed(writer, ["a"])
        assert [entry.stamped for entry in catalog.ledger.entries("a#chunk-0")] == [True]

    def test_key_of_two_corpora_is_told_apart(self, catalog: Catalog) -> None:
        write(catalog, take(catalog), "a")
        write(catalog, catalog.leases.acquire("memory", GENERATION, "m", TTL_MS), "a")
        found = [entry.corpus for entry in catalog.ledger.entries("a#chunk-0")]
        assert found == [CORPUS, "memory"]
        assert len(catalog.ledger.entries("a#chunk-0", "memory")) == 1
        assert catalog.ledger.entries("a#chunk-0", "web") == []

    def test_key_equals_only_itself(self, catalog: Catalog) -> None:
        write(catalog, take(catalog), "a")
        for other in ("A#chunk-0", "a#chunk-0 ", "a#CHUNK-0", "a#chunk-%", "", "á#chunk-0"):
            assert catalog.ledger.entries(other) == []

    def test_expected_is_what_is_stamped_now(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a", text="old")
        write(catalog, writer, "a", "b", text="new")
        start(catalog, writer, "a", text="open")
        start(catalog, take(catalog, "other", generation=2), "a")
        found = catalog.ledger.expected(CORPUS, GENERATION, ["b", "a", "unknown"])
        assert [(chunk.evidence_key, chunk.version) for chunk in found] == [
            ("a#chunk-0", 2),
            ("a#chunk-1", 2),
            ("b#chunk-0", 1),
            ("b#chunk-1", 1),
        ]
        assert found[1].content_sha256 == ledger_rows("a", text="new")[1].content_sha256


class GenerationRules:
    """Which generations a corpus has, and where its sources live."""

    def test_new_corpus_is_empty(self, catalog: Catalog) -> None:
        assert catalog.generations.live(CORPUS) is None
        assert catalog.generations.next_number(CORPUS) == 1
        with pytest.raises(CorpusEmpty, match="'docs'"):
            catalog.generations.require_live(CORPUS)

    def test_first_generation_is_live(self, catalog: Catalog, clock: HandClock) -> None:
        added = catalog.generations.add_first(CORPUS, 1, "pincite_docs_g1", RECIPE)
        assert added.live
        assert added.created_at == clock.now
        assert catalog.generations.require_live(CORPUS) == added
        assert catalog.generations.all() == [added]
        assert catalog.generations.corpora() == [CORPUS]
        assert catalog.generations.next_number(CORPUS) == 2

    def test_first_generation_of_another_process_is_returned(
        self, catalog: Catalog, clock: HandClock
    ) -> None:
        theirs = catalog.generations.add_first(CORPUS, 1, "pincite_docs_g1", RECIPE)
        clock.forward(1)
        assert catalog.generations.add_first(CORPUS, 1, "pincite_docs_g1", RECIPE) == theirs
        other = Recipe("window/1", 200, 80, "hash|é", 384)
        with pytest.raises(RecipeChanged):
            catalog.generations.add_first(CORPUS, 1, "pincite_docs_g1", other)

    def test_root_is_bound_for_good(self, catalog: Catalog) -> None:
        catalog.generations.bind_root(CORPUS, "manual", "/x/manual")
        catalog.generations.bind_root(CORPUS, "manual", "/x/manual")
        catalog.generations.bind_root(CORPUS, "Manual", "/x/other")
        with pytest.raises(SourceConflict, match="'/x/manual'"):
            catalog.generations.bind_root(CORPUS, "manual", "/y/manual")
        assert catalog.generations.roots(CORPUS) == {"manual": "/x/manual", "Manual": "/x/other"}
        assert catalog.generations.roots("memory") == {}


class ActivityRules:
    """Runs, in bounded space."""

    def test_runs_come_newest_first(self, catalog: Catalog) -> None:
        for number, started_at in enumerate((5, 9, 7)):
            catalog.activity.record_run(run_line(number, started_at))
        assert [run.started_at for run in catalog.activity.runs()] == [9, 7, 5]
        assert catalog.activity.runs(1) == [run_line(1, 9)]

    def test_runs_are_bounded_also_when_they_start_at_once(
        self, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert KEPT_RUNS == 1_000
        monkeypatch.setattr("pincite.catalog.activity.KEPT_RUNS", 5)
        for number in range(12):
            catalog.activity.record_run(run_line(number, started_at=min(number, 8)))
        assert len(catalog.activity.runs(100)) == 5

    def test_run_that_is_recorded_again_is_kept_once(self, catalog: Catalog) -> None:
        catalog.activity.record_run(run_line(1, 5))
        catalog.activity.record_run(run_line(1, 6))
        assert catalog.activity.runs() == [run_line(1, 6)]
