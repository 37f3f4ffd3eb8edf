"""What stamps, failures and removals promise."""

from __future__ import annotations

import pytest

from pincite.catalog.catalog import Catalog
from pincite.catalog.documents import EMPTY, FAILED, INDEXED
from pincite.errors import LeaseLost
from pincite.testing.catalog_suite_values import (
    CORPUS,
    GENERATION,
    ODD_IDS,
    draft,
    failure_of,
    held_ids,
    online,
    stamp_of,
    start,
    take,
    write,
)


class DocumentRules:
    """What a generation holds of its documents."""

    def test_stamp_says_what_is_held(self, catalog: Catalog) -> None:
        version = write(catalog, take(catalog), "a", kb_scope="s", source="manual/ä.md")["a"]
        held = catalog.documents.held(CORPUS, GENERATION, ["a", "unknown"])
        assert list(held) == ["a"]
        stamp = stamp_of("a", version)
        assert (held["a"].version, held["a"].fingerprint) == (version, stamp.fingerprint)
        assert (held["a"].chunk_count, held["a"].digest) == (2, stamp.digest)
        assert (held["a"].kb_scope, held["a"].source) == ("s", "manual/ä.md")
        assert (held["a"].state, held["a"].error_code, held["a"].attempts) == (INDEXED, "", 0)

    def test_generations_hold_apart(self, catalog: Catalog) -> None:
        write(catalog, take(catalog), "a")
        write(catalog, take(catalog, "other", generation=2), "b")
        assert held_ids(catalog, "a", "b") == ["a"]
        assert held_ids(catalog, "a", "b", generation=2) == ["b"]

    def test_nothing_to_stamp_is_no_error(self, catalog: Catalog) -> None:
        catalog.documents.stamp(online("nobody"), [])
        catalog.documents.stamp_removed(online("nobody"), [])
        catalog.documents.fail(online("nobody"), [], frozenset())

    def test_unopened_document_spoils_the_whole_stamp(self, catalog: Catalog) -> None:
        writer = take(catalog)
        start(catalog, writer, "a")
        with pytest.raises(LeaseLost):
            catalog.documents.stamp(writer, [stamp_of("a", 1), stamp_of("b", 1)])
        assert held_ids(catalog, "a", "b") == []
        assert catalog.journal.open_versions(CORPUS, "a") == {1}
        catalog.documents.stamp(writer, [stamp_of("a", 1)])

    def test_removed_document_is_held_no_more(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a", "b")
        catalog.journal.open_removals(writer, ["a"])
        assert held_ids(catalog, "a", "b") == ["a", "b"]
        catalog.documents.stamp_removed(writer, ["a"])
        assert held_ids(catalog, "a", "b") == ["b"]

    def test_removal_without_tombstone_removes_nothing(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a", "b")
        catalog.journal.open_removals(writer, ["a"])
        with pytest.raises(LeaseLost):
            catalog.documents.stamp_removed(writer, ["a", "b"])
        assert held_ids(catalog, "a", "b") == ["a", "b"]

    def test_failure_of_a_new_document_is_recorded(self, catalog: Catalog) -> None:
        catalog.documents.fail(take(catalog), [failure_of("a")], frozenset())
        held = catalog.documents.held(CORPUS, GENERATION, ["a"])["a"]
        assert (held.state, held.version, held.chunk_count) == (FAILED, 0, 0)
        assert (held.error_code, held.error_message) == ("READ_FAILED", "It does not open.")

    def test_failure_keeps_what_was_held_before(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a")
        before = catalog.documents.held(CORPUS, GENERATION, ["a"])["a"]
        start(catalog, writer, "a", text="other")
        catalog.documents.fail(writer, [failure_of("a")], frozenset(["a"]))
        after = catalog.documents.held(CORPUS, GENERATION, ["a"])["a"]
        assert after.state == FAILED
        assert (after.version, after.fingerprint) == (before.version, before.fingerprint)
        assert (after.chunk_count, after.digest) == (before.chunk_count, before.digest)

    def test_attempts_count_up_and_end_with_the_stamp(self, catalog: Catalog) -> None:
        writer = take(catalog)
        for number in (1, 2, 3):
            catalog.documents.fail(writer, [failure_of("a")], frozenset())
            assert catalog.documents.held(CORPUS, GENERATION, ["a"])["a"].attempts == number
        write(catalog, writer, "a")
        assert catalog.documents.held(CORPUS, GENERATION, ["a"])["a"].attempts == 0

    def test_only_named_rows_close_with_a_failure(self, catalog: Catalog) -> None:
        writer = take(catalog)
        start(catalog, writer, "touched", "untouched")
        failures = [failure_of("touched"), failure_of("untouched")]
        catalog.documents.fail(writer, failures, frozenset(["untouched"]))
        left = catalog.journal.left_open(writer)
        assert [pending.doc_id for pending in left] == ["touched"]

    def test_failure_of_a_lost_row_is_not_recorded(self, catalog: Catalog) -> None:
        with pytest.raises(LeaseLost):
            catalog.documents.fail(online("one"), [failure_of("a")], frozenset(["a"]))
        assert held_ids(catalog, "a") == []

    def test_of_source_keeps_sources_and_scopes_apart(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "b", "a", source_name="one")
        write(catalog, writer, "c", source_name="one", kb_scope="s")
        write(catalog, writer, "d", source_name="ONE")
        ids = [held.doc_id for held in catalog.documents.of_source(CORPUS, GENERATION, "one", "")]
        assert ids == ["a", "b"]
        assert len(catalog.documents.of_source(CORPUS, GENERATION, "one", "s")) == 1

    def test_pages_hold_every_document_once_in_byte_order(self, catalog: Catalog) -> None:
        write(catalog, take(catalog), *ODD_IDS)
        pages = list(catalog.documents.pages(CORPUS, GENERATION, size=4))
        assert [len(page) for page in pages] == [4, 4, 4, 3]
        ids = [held.doc_id for page in pages for held in page]
        assert ids == sorted(ODD_IDS, key=lambda doc_id: doc_id.encode())

    def test_empty_generation_has_no_pages(self, catalog: Catalog) -> None:
        assert list(catalog.documents.pages(CORPUS, GENERATION)) == []
        assert catalog.documents.count_states(CORPUS, GENERATION) == {}

    def test_count_states(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a", "b")
        catalog.journal.open_writes(writer, [draft("empty")], [])
        catalog.documents.stamp(writer, [stamp_of("empty", 1, chunks=0)])
        catalog.documents.fail(writer, [failure_of("b"), failure_of("new")], frozenset())
        counts = catalog.documents.count_states(CORPUS, GENERATION)
        assert counts == {INDEXED: 1, EMPTY: 1, FAILED: 2, "chunks": 4}
