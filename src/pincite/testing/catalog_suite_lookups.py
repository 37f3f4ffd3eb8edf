"""What the lookup log promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pincite.catalog.activity import KEPT_LOOKUPS, LookupLine, Returned
from pincite.catalog.catalog import Catalog
from pincite.testing.catalog_suite_values import CORPUS, HandClock


def lookup_line(number: int, corpus: str = CORPUS) -> LookupLine:
    """A lookup that says its number."""
    return LookupLine(f"t{number}", corpus, number, "SUFFICIENT", 5, "", ("rerank_failed", "ü"))


def full_line() -> LookupLine:
    """A lookup that says everything."""
    block = Returned("ü#chunk-0", "memory", 3, "a" * 64, 0.25, ("dense", "lexical"))
    return LookupLine(
        trace_id="full",
        corpus="docs,memory",
        latency_ms=12,
        evidence_status="WEAK",
        hit_count=2,
        fallback_reason="filtered_vector_low_quality",
        degradations=("l0_empty",),
        kb_scope="team",
        generation=7,
        mode="hybrid",
        selected_attempt="UNFILTERED_VECTOR_RETRY",
        reranker="http",
        reranker_applied=True,
        rerank_reason="timeout",
        query_sha256="b" * 64,
        query='怎么 "so"\0\U0001f600',
        blocks=(block, replace(block, generation=None, score=None, hit_reasons=())),
    )


class LookupLogRules:
    """What lookups returned, in bounded space."""

    def test_line_comes_back_whole_with_its_time(self, catalog: Catalog, clock: HandClock) -> None:
        catalog.activity.record_lookup(full_line())
        kept = catalog.activity.lookup("full")
        text = '怎么 "so"\ufffd\U0001f600'
        assert kept == replace(full_line(), query=text, created_at=clock.now)
        assert catalog.activity.lookup("FULL") is None

    def test_latest_line_of_a_trace_counts(self, catalog: Catalog) -> None:
        for number in (1, 2):
            catalog.activity.record_lookup(replace(lookup_line(number), trace_id="same"))
        kept = catalog.activity.lookup("same")
        assert kept is not None
        assert kept.latency_ms == 2

    def test_lookups_come_newest_first(self, catalog: Catalog, clock: HandClock) -> None:
        for number in range(4):
            catalog.activity.record_lookup(lookup_line(number))
        catalog.activity.record_lookup(lookup_line(9, "memory"))
        kept = catalog.activity.lookups(CORPUS, 2)
        assert kept == [replace(lookup_line(n), created_at=clock.now) for n in (3, 2)]
        assert len(catalog.activity.lookups(CORPUS)) == 4
        assert [line.latency_ms for line in catalog.activity.lookups(limit=2)] == [9, 3]

    def test_lookup_of_several_corpora_counts_for_each(self, catalog: Catalog) -> None:
        names = ("docs", "docs,memory", "web,docs", "memory,docs,web", "docsx", "mydocs,web")
        for number, names_asked in enumerate(names):
            catalog.activity.record_lookup(lookup_line(number, names_asked))
        assert [line.latency_ms for line in catalog.activity.lookups("docs")] == [3, 2, 1, 0]
        assert [line.latency_ms for line in catalog.activity.lookups("web")] == [5, 3, 2]
        assert catalog.activity.lookups("doc_") == catalog.activity.lookups("%") == []

    def test_figures_do_without_blocks(self, catalog: Catalog) -> None:
        catalog.activity.record_lookup(full_line())
        (line,) = catalog.activity.lookups("memory", blocks=False)
        assert (line.blocks, line.hit_count, line.query_sha256) == ((), 2, "b" * 64)

    def test_line_does_not_change_a_revision(self, catalog: Catalog) -> None:
        catalog.activity.record_lookup(lookup_line(1))
        assert catalog.revision(CORPUS) == 0

    def test_lookups_are_bounded(self, catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
        assert KEPT_LOOKUPS == 10_000
        monkeypatch.setattr("pincite.catalog.activity.KEPT_LOOKUPS", 5)
        for number in range(12):
            catalog.activity.record_lookup(lookup_line(number))
        assert [line.latency_ms for line in catalog.activity.lookups()] == [11, 10, 9, 8, 7]
