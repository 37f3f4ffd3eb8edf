"""The catalogue on SQLite, its default database."""

from pathlib import Path

import pytest

from pincite.testing.catalog_suite import CatalogConformance


class TestSqliteCatalog(CatalogConformance):
    @pytest.fixture
    def catalog_url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'home' / 'catalog.sqlite'}"
