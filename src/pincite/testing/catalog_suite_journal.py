"""What the journal promises."""

from __future__ import annotations

import pytest

from pincite.catalog.catalog import Catalog
from pincite.catalog.journal import REMOVE, WRITE, Pending
from pincite.errors import LeaseLost
from pincite.testing.catalog_suite_values import (
    CORPUS,
    GENERATION,
    ODD_IDS,
    TTL_MS,
    HandClock,
    draft,
    failure_of,
    held_ids,
    ledger_rows,
    online,
    stamp_of,
    start,
    take,
    write,
)


class JournalRules:
    """One open row per document and generation, and version numbers given once."""

    def test_versions_count_from_one(self, catalog: Catalog) -> None:
        writer = take(catalog)
        assert write(catalog, writer, "a", "b") == {"a": 1, "b": 1}
        assert write(catalog, writer, "b", "c") == {"b": 2, "c": 1}

    def test_number_is_not_reused_after_removal(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a")
        assert catalog.journal.open_removals(writer, ["a"]).versions == {"a": 2}
        catalog.documents.stamp_removed(writer, ["a"])
        assert write(catalog, writer, "a") == {"a": 3}

    def test_number_is_not_reused_after_failure(self, catalog: Catalog) -> None:
        writer = take(catalog)
        start(catalog, writer, "a")
        catalog.documents.fail(writer, [failure_of("a")], frozenset(["a"]))
        assert write(catalog, writer, "a") == {"a": 2}

    def test_number_is_not_reused_after_a_crash(self, catalog: Catalog, clock: HandClock) -> None:
        start(catalog, take(catalog, "first"), "a")
        clock.forward(TTL_MS)
        assert start(catalog, take(catalog, "second"), "a").versions == {"a": 2}

    def test_generations_share_the_numbers_of_a_document(self, catalog: Catalog) -> None:
        one, two = take(catalog), take(catalog, "other", generation=2)
        assert start(catalog, one, "a").versions == {"a": 1}
        assert start(catalog, two, "a").versions == {"a": 2}
        assert catalog.journal.open_versions(CORPUS, "a") == {1, 2}

    def test_corpora_number_apart(self, catalog: Catalog) -> None:
        write(catalog, take(catalog), "a")
        memory = catalog.leases.acquire("memory", GENERATION, "m", TTL_MS)
        assert start(catalog, memory, "a").versions == {"a": 1}

    def test_document_of_a_living_writer_is_busy(self, catalog: Catalog) -> None:
        start(catalog, online("online"), "a")
        opened = start(catalog, take(catalog), "a", "b")
        assert opened.busy == {"a"}
        assert opened.versions == {"b": 1}
        assert catalog.ledger.entries("a#chunk-0")[0].version == 1
        assert len(catalog.ledger.entries("a#chunk-0")) == 1

    def test_busy_document_cannot_be_removed(self, catalog: Catalog) -> None:
        start(catalog, online("online"), "a")
        opened = catalog.journal.open_removals(take(catalog), ["a", "b"])
        assert opened.busy == {"a"}
        assert opened.versions == {"b": 1}

    def test_two_online_writers_hold_different_documents(self, catalog: Catalog) -> None:
        assert start(catalog, online("one"), "a").versions == {"a": 1}
        assert start(catalog, online("two"), "b").versions == {"b": 1}
        assert start(catalog, online("two"), "a").busy == {"a"}

    def test_expired_row_of_an_online_writer_is_taken(
        self, catalog: Catalog, clock: HandClock
    ) -> None:
        start(catalog, online("online"), "a")
        clock.forward(TTL_MS)
        assert start(catalog, take(catalog), "a").versions == {"a": 2}
        with pytest.raises(LeaseLost):
            catalog.documents.stamp(online("online"), [stamp_of("a", 1)])
        assert held_ids(catalog, "a") == []

    def test_rows_of_a_released_lease_are_taken_by_the_next_lease(self, catalog: Catalog) -> None:
        first = take(catalog, "first")
        start(catalog, first, "a")
        catalog.leases.release(first)
        assert start(catalog, online("online"), "a").busy == {"a"}
        assert start(catalog, take(catalog, "second"), "a").versions == {"a": 2}

    def test_writer_takes_its_own_row_again(self, catalog: Catalog) -> None:
        writer = take(catalog)
        start(catalog, writer, "a")
        assert start(catalog, writer, "a").versions == {"a": 2}
        assert catalog.journal.open_versions(CORPUS, "a") == {2}

    def test_version_that_is_not_open_cannot_be_stamped(self, catalog: Catalog) -> None:
        writer = take(catalog)
        start(catalog, writer, "a")
        start(catalog, writer, "a")
        with pytest.raises(LeaseLost):
            catalog.documents.stamp(writer, [stamp_of("a", 1)])
        catalog.documents.stamp(writer, [stamp_of("a", 2)])

    def test_left_open_names_what_a_dead_writer_did_oldest_first(
        self, catalog: Catalog, clock: HandClock
    ) -> None:
        first = take(catalog, "first")
        write(catalog, first, "z", "done")
        start(catalog, first, "b")
        catalog.journal.open_removals(first, ["z"])
        clock.forward(TTL_MS)
        left = catalog.journal.left_open(take(catalog, "second"))
        assert left == [Pending("b", WRITE, 1), Pending("z", REMOVE, 2)]

    def test_left_open_leaves_out_living_writers(self, catalog: Catalog) -> None:
        start(catalog, online("online"), "a")
        assert catalog.journal.left_open(take(catalog)) == []

    def test_a_row_closes_once(self, catalog: Catalog) -> None:
        writer = take(catalog)
        numbers = write(catalog, writer, "a")
        with pytest.raises(LeaseLost):
            catalog.documents.stamp(writer, [stamp_of("a", numbers["a"])])
        assert catalog.journal.open_versions(CORPUS, "a") == frozenset()

    def test_version_keeps_what_was_read(self, catalog: Catalog) -> None:
        start(catalog, take(catalog), "a", text="körper")
        found = catalog.documents.version(CORPUS, "a", 1)
        assert found is not None
        assert found.text_digest == draft("a", "körper").text_digest
        assert found.raw_sha256 == draft("a", "körper").raw_sha256
        assert found.record["title"] == "Über \U0001f600"
        assert catalog.documents.version(CORPUS, "a", 2) is None

    def test_lost_writer_opens_nothing(self, catalog: Catalog, clock: HandClock) -> None:
        first = take(catalog, "first")
        clock.forward(TTL_MS)
        second = take(catalog, "second")
        with pytest.raises(LeaseLost):
            start(catalog, first, "a")
        with pytest.raises(LeaseLost):
            catalog.journal.open_removals(first, ["a"])
        assert catalog.journal.left_open(second) == []
        assert catalog.ledger.entries("a#chunk-0") == []

    def test_odd_ids_stay_apart(self, catalog: Catalog) -> None:
        writer = take(catalog)
        assert write(catalog, writer, *ODD_IDS) == dict.fromkeys(ODD_IDS, 1)
        assert held_ids(catalog, *ODD_IDS) == sorted(ODD_IDS)
        for doc_id in ODD_IDS:
            assert list(catalog.documents.held(CORPUS, GENERATION, [doc_id])) == [doc_id]
            entries = catalog.ledger.entries(f"{doc_id}#chunk-1", CORPUS)
            assert [entry.doc_id for entry in entries] == [doc_id]

    def test_empty_batch_opens_nothing(self, catalog: Catalog) -> None:
        opened = catalog.journal.open_writes(take(catalog), [], [])
        assert opened.versions == {}
        assert opened.busy == frozenset()

    def test_large_batch_is_one_transaction(self, catalog: Catalog) -> None:
        doc_ids = [f"d{number:04}" for number in range(1_200)]
        rows = [row for doc_id in doc_ids for row in ledger_rows(doc_id, chunks=1)]
        opened = catalog.journal.open_writes(take(catalog), [draft(d) for d in doc_ids], rows)
        assert opened.versions == dict.fromkeys(doc_ids, 1)
