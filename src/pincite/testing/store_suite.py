"""Conformance of a store: what every adapter of ``VectorStore`` and ``GenerationStore`` keeps.

Subclass the suites and give the fixture ``open_store``, which returns a function that opens a
new client of one and the same store.
"""

from pincite.testing.store_kit import (
    DIM,
    SPEC,
    OpenStore,
    document,
    keys_of,
    on_store,
    row,
    search_until,
    table,
    unit,
)
from pincite.testing.store_suite_collections import GenerationStoreSuite, RemoteStoreSuite
from pincite.testing.store_suite_json import JsonKeySuite
from pincite.testing.store_suite_reading import ReadingSuite
from pincite.testing.store_suite_rows import WritingSuite
from pincite.testing.store_suite_search import SearchSuite
from pincite.testing.store_suite_text import DenseOnlySuite, TextSuite

__all__ = [
    "DIM",
    "SPEC",
    "DenseOnlySuite",
    "GenerationStoreSuite",
    "OpenStore",
    "RemoteStoreSuite",
    "TextSuite",
    "VectorStoreSuite",
    "document",
    "keys_of",
    "on_store",
    "row",
    "search_until",
    "table",
    "unit",
]


class VectorStoreSuite(WritingSuite, ReadingSuite, SearchSuite, JsonKeySuite):
    """Rows: written, found, read, removed."""
