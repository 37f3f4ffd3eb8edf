"""The catalogue's conformance suite: what every database must keep."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pincite.catalog.catalog import Catalog
from pincite.testing.catalog_suite_documents import DocumentRules
from pincite.testing.catalog_suite_journal import JournalRules
from pincite.testing.catalog_suite_l0 import L0Rules, RevisionRules
from pincite.testing.catalog_suite_leases import LeaseRules
from pincite.testing.catalog_suite_lookups import LookupLogRules
from pincite.testing.catalog_suite_processes import ProcessRules
from pincite.testing.catalog_suite_records import ActivityRules, GenerationRules, LedgerRules
from pincite.testing.catalog_suite_values import HandClock

__all__ = ["CatalogConformance", "HandClock"]


class CatalogConformance(
    LeaseRules,
    JournalRules,
    DocumentRules,
    LedgerRules,
    GenerationRules,
    ActivityRules,
    L0Rules,
    RevisionRules,
    LookupLogRules,
    ProcessRules,
):
    """Runs against the database of the ``catalog_url`` fixture.

    A subclass named ``Test…`` gives that fixture: the SQLAlchemy URL of an empty database, a
    fresh one for each test.
    """

    @pytest.fixture
    def catalog_url(self) -> str:
        raise NotImplementedError("give a fixture catalog_url: the URL of an empty database")

    @pytest.fixture
    def clock(self) -> HandClock:
        return HandClock()

    @pytest.fixture
    def catalog(self, catalog_url: str, clock: HandClock) -> Iterator[Catalog]:
        opened = Catalog(catalog_url, clock)
        yield opened
        opened.close()
