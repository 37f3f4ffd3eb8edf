"""What the catalogue says of a corpus, read once for each of its revisions.

Most lookups come between two changes of a corpus. For them one number is read, the revision, and
all else is at hand.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from cachetools import LRUCache

from pincite.catalog.catalog import Catalog
from pincite.catalog.generations import Generation

KEPT_VERSIONS = 50_000


class CatalogView:
    """The live generation and the stamped versions of a corpus; methods block, any thread.

    Raises:
        CatalogUnreachable: The database does not answer.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.Lock()
        self._live: dict[str, tuple[int, Generation | None]] = {}
        self._versions: LRUCache[tuple[str, int, int, str], int | None] = LRUCache(KEPT_VERSIONS)

    def live(self, corpus: str) -> tuple[int, Generation | None]:
        """The corpus's revision and its live generation, ``None`` before the first ingest."""
        revision = self._catalog.revision(corpus)
        known = self._live.get(corpus)
        if known is None or known[0] != revision:
            # Read after the revision: at worst it is newer than that, and is read again.
            known = self._live[corpus] = (revision, self._catalog.generations.live(corpus))
        return known

    def known_versions(
        self, corpus: str, generation: int, revision: int, doc_ids: Sequence[str]
    ) -> dict[str, int] | None:
        """The stamped versions if all are at hand; a document without one is left out."""
        with self._lock:
            try:
                found = {one: self._versions[corpus, generation, revision, one] for one in doc_ids}
            except KeyError:
                return None
        return {doc_id: version for doc_id, version in found.items() if version is not None}

    def versions(
        self, corpus: str, generation: int, revision: int, doc_ids: Sequence[str]
    ) -> dict[str, int]:
        """The stamped versions, read and kept under the revision at which the lookup began."""
        held = self._catalog.documents.held(corpus, generation, doc_ids)
        versions = {doc_id: one.version for doc_id, one in held.items() if one.version}
        with self._lock:
            for doc_id in doc_ids:
                self._versions[corpus, generation, revision, doc_id] = versions.get(doc_id)
        return versions
