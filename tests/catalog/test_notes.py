"""Notes on SQLite: lines that are not worth waiting for."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from pincite.catalog.activity import LookupLine
from pincite.catalog.catalog import Catalog
from pincite.catalog.database import NOTE_PATIENCE_MS, Database
from pincite.catalog.tables import roots
from pincite.errors import CatalogUnreachable

ROW = {"corpus": "docs", "source_name": "manual", "folder": "/x"}
LINE = LookupLine("t", "docs", 1, "NONE", 0, "", ())
# SQLite's numbers for PRAGMA synchronous.
NORMAL, FULL = 1, 2


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'catalog.sqlite'}"


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with closing(Database(url)) as opened:
        yield opened


def test_note_is_committed(database: Database) -> None:
    with database.note() as connection:
        connection.execute(roots.insert().values(**ROW))
    with database.read() as connection:
        assert len(connection.execute(select(roots)).all()) == 1


def test_failed_note_leaves_nothing(database: Database) -> None:
    def note_and_fail() -> None:
        with database.note() as connection:
            connection.execute(roots.insert().values(**ROW))
            raise KeyError("stop")

    with pytest.raises(KeyError):
        note_and_fail()
    with database.read() as connection:
        assert connection.execute(select(roots)).all() == []


def test_lookup_is_given_up_while_another_writer_is_busy(url: str) -> None:
    with closing(Catalog(url)) as catalog, closing(Database(url)) as other:
        with other.write():
            start = time.monotonic()
            with pytest.raises(CatalogUnreachable):
                catalog.activity.record_lookup(LINE)
            waited_ms = (time.monotonic() - start) * 1000
        # A writer that waited would have waited for 30 seconds.
        assert NOTE_PATIENCE_MS * 0.9 <= waited_ms < 5_000
        assert catalog.activity.lookups() == []
        catalog.activity.record_lookup(LINE)
        assert len(catalog.activity.lookups()) == 1


def test_lookups_are_read_while_another_writer_is_busy(url: str) -> None:
    with closing(Catalog(url)) as catalog, closing(Database(url)) as other:
        catalog.activity.record_lookup(LINE)
        with other.write():
            assert catalog.activity.lookup("t") is not None
            assert catalog.revision("docs") == 0
            assert catalog.l0.match("docs", ["word"], "", ()) == []


def test_haste_of_notes_is_not_that_of_other_writers(database: Database) -> None:
    def settings() -> tuple[int, int]:
        names = ("busy_timeout", "synchronous")
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]
        return int(found[0] or 0), int(found[1] or 0)

    with database.note() as connection:
        assert settings() == (NOTE_PATIENCE_MS, NORMAL)
    with database.write() as connection:
        assert settings() == (30_000, FULL)
