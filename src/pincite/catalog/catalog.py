"""The catalogue: one object that holds its parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from pincite.catalog.activity import Activity
from pincite.catalog.database import Database, now_ms
from pincite.catalog.documents import Documents
from pincite.catalog.generations import Generations
from pincite.catalog.items import TABLES, Items
from pincite.catalog.journal import Journal
from pincite.catalog.l0 import L0
from pincite.catalog.leases import Leases
from pincite.catalog.ledger import Ledger
from pincite.catalog.lookup_facts import LookupFacts, lookup_facts
from pincite.catalog.memory_texts import MemoryTexts
from pincite.catalog.retention import Trimmed, trim
from pincite.catalog.revisions import revision_of
from pincite.catalog.shadows import Shadows


class Catalog:
    """Everything that Pincite knows about its corpora, in one SQL database.

    Methods block; asynchronous callers run them in a thread. Safe for several threads and
    processes.

    Args:
        url: SQLAlchemy URL.
        clock: Epoch milliseconds, UTC; another clock only in tests.

    Raises:
        ConfigInvalid: The URL cannot be used.
        CatalogUnreachable: The database does not answer.
    """

    def __init__(self, url: str, clock: Callable[[], int] = now_ms) -> None:
        self._database = Database(url)
        self.generations = Generations(self._database, clock)
        self.leases = Leases(self._database, clock)
        self.journal = Journal(self._database, clock)
        self.documents = Documents(self._database, clock)
        self.ledger = Ledger(self._database, clock)
        self.l0 = L0(self._database)
        self.activity = Activity(self._database, clock)
        self.shadows = Shadows(self._database, clock)
        self.items = {name: Items(self._database, table, clock) for name, table in TABLES.items()}
        self.memory_texts = MemoryTexts(self._database)

    def revision(self, corpus: str) -> int:
        """A number that changes with every committed change of the corpus; 0 before the first.

        Read before a search, it says of the result whether the corpus has changed since.
        """
        return revision_of(self._database, corpus)

    def lookup_facts(
        self, corpora: Collection[str] | None = None, since: int = 0
    ) -> Iterator[LookupFacts]:
        """What figures need of the kept lookups, newest first; see ``lookup_facts``."""
        return lookup_facts(self._database, corpora, since)

    def trim(self, before_ms: int) -> Trimmed:
        """Forget texts that were superseded or removed before a time; see ``retention.trim``."""
        return trim(self._database, before_ms)

    def close(self) -> None:
        self._database.close()
