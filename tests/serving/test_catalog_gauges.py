"""Gauges of what the catalogue holds, while it answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pincite.catalog.catalog import Catalog
from pincite.serving.catalog_gauges import TTL_S, CatalogGauges
from pincite.testing.faults import put, raising


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.sqlite'}")
    yield catalog
    catalog.close()


def test_catalogue_that_fails_is_left_out_and_comes_back(
    catalog: Catalog, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    broken = [True]
    fault = raising(OSError("s3cret"))
    failing = put(catalog, "generations.live", fault, lambda *_: broken[0])
    gauges = CatalogGauges(failing, lambda: now)
    assert list(gauges.collect()) == []
    assert [record.getMessage() for record in caplog.records] == ["figures not read: OSError"]
    broken[0] = False
    assert list(gauges.collect()) == []
    now = TTL_S
    assert [family.name for family in gauges.collect()] == ["pincite_items", "pincite_documents"]


def test_gauges_are_read_again_once_they_are_old(catalog: Catalog) -> None:
    now = 0.0
    gauges = CatalogGauges(catalog, lambda: now)

    def pending() -> float:
        items = next(iter(gauges.collect()))
        return sum(s.value for s in items.samples if s.labels["state"] == "PENDING")

    assert pending() == 0
    row = dict.fromkeys(("kb_scope", "url", "domain", "title", "language", "query_id"), "")
    numbers = ("created_at", "expires_at", "published_at", "fetched_at", "source_rank")
    row |= {"doc_id": "d", "session_id": "s", "text_digest": "a" * 64}
    catalog.items["web"].put([row | dict.fromkeys(numbers, 0)])
    assert pending() == 0
    now = TTL_S
    assert pending() == 1
