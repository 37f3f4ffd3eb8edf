"""What the catalogue promises to several processes at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from multiprocessing import get_context
from typing import TypeVar

import pytest

from pincite.catalog.activity import LookupLine
from pincite.catalog.catalog import Catalog
from pincite.errors import CatalogUnreachable, CorpusBusy, PinciteError
from pincite.testing.catalog_suite_values import (
    CORPUS,
    GENERATION,
    TTL_MS,
    online,
    stamp_of,
    start,
    take,
)

PROCESSES = 2
ROUNDS = 15
SHARED = "shared"

T = TypeVar("T")


def write_own_and_shared(url: str, owner: str) -> list[int]:
    """Write a document of the own and one that all want; the versions stamped of the latter."""
    stamped = []
    with closing(Catalog(url)) as catalog:
        for number in range(ROUNDS):
            writer = online(f"{owner}-{number}")
            opened = start(catalog, writer, f"{owner}/{number}", SHARED)
            stamps = [stamp_of(doc_id, version) for doc_id, version in opened.versions.items()]
            catalog.documents.stamp(writer, stamps)
            if SHARED in opened.versions:
                stamped.append(opened.versions[SHARED])
    return stamped


def record_lookups(url: str, owner: str) -> int:
    """Keep lines of lookups; how many were taken."""
    taken = 0
    with closing(Catalog(url)) as catalog:
        for number in range(ROUNDS):
            line = LookupLine(f"{owner}-{number}", CORPUS, 1, "NONE", 0, "", ())
            with suppress(CatalogUnreachable):
                catalog.activity.record_lookup(line)
                taken += 1
    return taken


def take_and_give_back(url: str, owner: str) -> list[int]:
    """Take the lease as often as it is free; the fences."""
    fences = []
    with closing(Catalog(url)) as catalog:
        for _ in range(ROUNDS):
            try:
                writer = take(catalog, owner)
            except CorpusBusy:
                continue
            fences.append(writer.fence)
            catalog.leases.release(writer)
    return fences


def bind_and_number(url: str, owner: str) -> str:
    """Bind one name to a folder of the own; the code of the error, or nothing."""
    with closing(Catalog(url)) as catalog:
        try:
            catalog.generations.bind_root(CORPUS, "manual", f"/{owner}")
        except PinciteError as error:
            return error.code
    return ""


def fail_busy(url: str, owner: str) -> None:
    """Raise the error of a lease that is held."""
    with closing(Catalog(url)) as catalog:
        take(catalog, owner)


class Processes:
    """Several processes, started once for all tests of a class."""

    def __init__(self) -> None:
        self.pool = ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn"))

    def at_once(self, work: Callable[[str, str], T], url: str) -> list[T]:
        """The results of ``work(url, owner)`` in each of them."""
        owners = [f"p{number}" for number in range(PROCESSES)]
        return list(self.pool.map(work, [url] * PROCESSES, owners))


class ProcessRules:
    """Several processes on one database, which they also create."""

    @pytest.fixture(scope="class")
    @classmethod
    def processes(cls) -> Iterator[Processes]:
        started = Processes()
        yield started
        started.pool.shutdown()

    def test_processes_write_at_once(self, catalog_url: str, processes: Processes) -> None:
        shared = [n for part in processes.at_once(write_own_and_shared, catalog_url) for n in part]
        assert len(shared) == len(set(shared))
        with closing(Catalog(catalog_url)) as catalog:
            counts = catalog.documents.count_states(CORPUS, GENERATION)
            assert counts == {"INDEXED": PROCESSES * ROUNDS + 1, "chunks": 2 * counts["INDEXED"]}
            held = catalog.documents.held(CORPUS, GENERATION, [SHARED])[SHARED]
            assert held.version == max(shared)
            assert catalog.journal.open_versions(CORPUS, SHARED) == frozenset()
            assert catalog.revision(CORPUS) == PROCESSES * ROUNDS
            assert len(catalog.l0.match(CORPUS, ["zwei"], "", ())) == counts["INDEXED"]

    def test_lines_that_were_taken_are_kept(self, catalog_url: str, processes: Processes) -> None:
        taken = sum(processes.at_once(record_lookups, catalog_url))
        assert taken > 0
        with closing(Catalog(catalog_url)) as catalog:
            assert len({line.trace_id for line in catalog.activity.lookups()}) == taken

    def test_fences_are_given_once(self, catalog_url: str, processes: Processes) -> None:
        fences = [n for part in processes.at_once(take_and_give_back, catalog_url) for n in part]
        assert sorted(fences) == list(range(1, len(fences) + 1))

    def test_one_process_binds_a_root(self, catalog_url: str, processes: Processes) -> None:
        assert sorted(processes.at_once(bind_and_number, catalog_url)) == ["", "SOURCE_CONFLICT"]

    def test_error_of_another_process_arrives_whole(
        self, catalog_url: str, processes: Processes
    ) -> None:
        with closing(Catalog(catalog_url)) as catalog:
            catalog.leases.acquire(CORPUS, GENERATION, "here", 10 * TTL_MS)
            error = processes.pool.submit(fail_busy, catalog_url, "there").exception()
        assert isinstance(error, CorpusBusy)
        assert error.attributes == {"corpus": CORPUS}
        assert error.next_step == CorpusBusy.advice
