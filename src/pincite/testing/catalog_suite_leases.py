"""What leases promise."""

from __future__ import annotations

import pytest

from pincite.catalog.catalog import Catalog
from pincite.errors import CorpusBusy, LeaseLost
from pincite.testing.catalog_suite_values import (
    CORPUS,
    GENERATION,
    TTL_MS,
    HandClock,
    held_ids,
    stamp_of,
    start,
    take,
    write,
)


class LeaseRules:
    """One holder, with expiry and a fence that grows."""

    def test_second_writer_is_refused(self, catalog: Catalog) -> None:
        take(catalog, "first")
        with pytest.raises(CorpusBusy, match="'docs'") as caught:
            take(catalog, "second")
        assert caught.value.attributes == {"corpus": CORPUS}

    def test_same_owner_does_not_take_its_own_lease_twice(self, catalog: Catalog) -> None:
        take(catalog, "first")
        with pytest.raises(CorpusBusy):
            take(catalog, "first")

    def test_other_generation_and_corpus_are_free(self, catalog: Catalog) -> None:
        take(catalog)
        assert take(catalog, generation=2).fence == 1
        assert catalog.leases.acquire("memory", GENERATION, "first", TTL_MS).fence == 1

    def test_expired_lease_is_taken_with_a_higher_fence(
        self, catalog: Catalog, clock: HandClock
    ) -> None:
        first = take(catalog, "first")
        clock.forward(TTL_MS - 1)
        with pytest.raises(CorpusBusy):
            take(catalog, "second")
        clock.forward(1)
        assert take(catalog, "second").fence == first.fence + 1

    def test_fence_grows_after_release(self, catalog: Catalog) -> None:
        fences = []
        for owner in ("first", "second", "third"):
            writer = take(catalog, owner)
            fences.append(writer.fence)
            catalog.leases.release(writer)
        assert fences == [1, 2, 3]

    def test_renewed_lease_does_not_expire(self, catalog: Catalog, clock: HandClock) -> None:
        writer = take(catalog, "first")
        clock.forward(TTL_MS - 1)
        catalog.leases.renew(writer)
        clock.forward(TTL_MS - 1)
        with pytest.raises(CorpusBusy):
            take(catalog, "second")

    def test_expired_lease_that_nobody_took_can_be_renewed(
        self, catalog: Catalog, clock: HandClock
    ) -> None:
        writer = take(catalog, "first")
        clock.forward(TTL_MS * 2)
        catalog.leases.renew(writer)
        with pytest.raises(CorpusBusy):
            take(catalog, "second")

    def test_renewing_covers_open_rows(self, catalog: Catalog, clock: HandClock) -> None:
        writer = take(catalog)
        start(catalog, writer, "a")
        clock.forward(TTL_MS - 1)
        catalog.leases.renew(writer)
        clock.forward(TTL_MS - 1)
        other = take(catalog, "other", generation=2)
        assert catalog.journal.left_open(other) == []
        assert [p.doc_id for p in catalog.journal.left_open(writer)] == ["a"]

    def test_renew_after_takeover_is_lost(self, catalog: Catalog, clock: HandClock) -> None:
        first = take(catalog, "first")
        clock.forward(TTL_MS)
        second = take(catalog, "second")
        with pytest.raises(LeaseLost):
            catalog.leases.renew(first)
        catalog.leases.renew(second)

    def test_release_after_takeover_leaves_the_new_holder(
        self, catalog: Catalog, clock: HandClock
    ) -> None:
        first = take(catalog, "first")
        clock.forward(TTL_MS)
        take(catalog, "second")
        catalog.leases.release(first)
        with pytest.raises(CorpusBusy):
            take(catalog, "third")

    def test_release_twice_is_no_error(self, catalog: Catalog) -> None:
        writer = take(catalog)
        catalog.leases.release(writer)
        catalog.leases.release(writer)

    def test_released_writer_can_do_nothing_more(self, catalog: Catalog) -> None:
        writer = take(catalog)
        catalog.leases.release(writer)
        with pytest.raises(LeaseLost):
            start(catalog, writer, "a")

    def test_nothing_is_stamped_after_takeover(self, catalog: Catalog, clock: HandClock) -> None:
        first = take(catalog, "first")
        write(catalog, first, "old")
        opened = start(catalog, first, "old", "new")
        clock.forward(TTL_MS)
        take(catalog, "second")
        stamps = [stamp_of(doc_id, number) for doc_id, number in opened.versions.items()]
        with pytest.raises(LeaseLost):
            catalog.documents.stamp(first, stamps)
        assert held_ids(catalog, "old", "new") == ["old"]
        assert catalog.documents.held(CORPUS, GENERATION, ["old"])["old"].version == 1
