import logging
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import exc, select

from pincite.catalog.database import Database, slices
from pincite.catalog.tables import SCHEMA_VERSION, catalog_version, roots
from pincite.errors import CatalogUnreachable, ConfigInvalid

ROW = {"corpus": "docs", "source_name": "manual", "folder": "/secret-folder"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "home" / "catalog.sqlite"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{path}")
    yield opened
    opened.close()


def test_folder_and_tables_are_made_on_first_use(database: Database, path: Path) -> None:
    assert path.is_file()
    with database.read() as connection:
        assert connection.execute(select(catalog_version.c.version)).scalar() == SCHEMA_VERSION


def test_existing_catalogue_opens_while_another_process_writes(
    database: Database, path: Path
) -> None:
    url = f"sqlite:///{path}"
    with database.write(), closing(Database(url)) as second, second.read() as connection:
        assert connection.execute(select(roots)).all() == []


def test_table_that_an_older_catalogue_lacks_is_added(database: Database, path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("drop table roots")
    with closing(Database(f"sqlite:///{path}")) as second, second.read() as connection:
        assert connection.execute(select(roots)).all() == []


def test_failed_transaction_leaves_nothing(database: Database) -> None:
    def write_and_fail() -> None:
        with database.write() as connection:
            connection.execute(roots.insert().values(**ROW))
            raise KeyError("stop")

    with pytest.raises(KeyError):
        write_and_fail()
    with database.read() as connection:
        assert connection.execute(select(roots)).all() == []


def test_writers_of_several_threads_wait_for_each_other(database: Database) -> None:
    barrier = threading.Barrier(4)

    def write(number: int) -> None:
        barrier.wait()
        for step in range(10):
            with database.write() as connection:
                # A read first: a deferred transaction could not become a writer any more.
                connection.execute(select(roots)).all()
                row = {**ROW, "source_name": f"{number}-{step}"}
                connection.execute(roots.insert().values(**row))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    with database.read() as connection:
        assert len(connection.execute(select(roots)).all()) == 40


def test_conflict_is_tried_again_until_the_row_is_seen(database: Database) -> None:
    seen: list[int] = []

    def work(connection: object) -> int:
        seen.append(1)
        if len(seen) < 3:
            raise exc.IntegrityError("insert", {}, Exception())
        return len(seen)

    assert database.transact(work) == 3


def test_conflict_that_stays_is_raised_without_its_values(database: Database) -> None:
    with pytest.raises(exc.IntegrityError) as caught:
        database.transact(lambda connection: connection.execute(roots.insert(), [ROW, ROW]))
    assert "secret-folder" not in str(caught.value)


def test_newer_catalogue_is_refused(database: Database, path: Path) -> None:
    with database.write() as connection:
        connection.execute(catalog_version.update().values(version=SCHEMA_VERSION + 1))
    with pytest.raises(ConfigInvalid, match=f"schema version {SCHEMA_VERSION + 1}"):
        Database(f"sqlite:///{path}")


@pytest.mark.parametrize("url", ["nonsense", "nosuchdialect://x", "sqlite://", "sqlite:///"])
def test_url_that_cannot_work_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigInvalid, match=r"\[catalog\] url"):
        Database(url)


def test_missing_driver_names_the_extra() -> None:
    with pytest.raises(ConfigInvalid, match=r"postgres, mysql") as caught:
        Database("mysql+nosuchdriver://user:hunter2@host/x")
    assert "hunter2" not in f"{caught.value} {caught.value.__cause__}"


def test_file_that_is_no_database_is_unreachable(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(CatalogUnreachable, match="DatabaseError"):
        Database(f"sqlite:///{path}")


def test_folder_in_place_of_a_file_is_unreachable(tmp_path: Path) -> None:
    with pytest.raises(CatalogUnreachable):
        Database(f"sqlite:///{tmp_path}")


def test_folder_that_cannot_be_made_is_unreachable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CatalogUnreachable, match="folder"):
        Database(f"sqlite:///{tmp_path / 'file' / 'catalog.sqlite'}")


def test_lost_tables_are_reported_as_unreachable(database: Database, path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("drop table roots")
    with (
        pytest.raises(CatalogUnreachable, match="OperationalError"),
        database.read() as connection,
    ):
        connection.execute(select(roots)).all()


def test_nothing_is_logged_of_a_statement(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), database.write() as connection:
        connection.execute(roots.insert().values(**ROW))
    assert "secret-folder" not in caplog.text


def test_slices_cover_everything_in_order() -> None:
    assert [list(part) for part in slices(range(7), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(slices([])) == []
