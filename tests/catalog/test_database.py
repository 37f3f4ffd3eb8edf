import logging
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, exc, select

from pincite.catalog.database import CONFLICT_TRIES, Database, slices
from pincite.catalog.engines import _is_conflict
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


@pytest.mark.parametrize("lasts", [2, CONFLICT_TRIES])
def test_transaction_that_the_database_took_back_is_begun_anew(
    database: Database, lasts: int
) -> None:
    seen: list[int] = []

    def work(connection: Connection) -> int:
        seen.append(1)
        connection.execute(roots.insert().values(**ROW))
        if len(seen) <= lasts:
            raise CatalogUnreachable("Deadlock.", conflict=True)
        return len(seen)

    if lasts < CONFLICT_TRIES:
        assert database.transact(work) == lasts + 1
    else:
        with pytest.raises(CatalogUnreachable):
            database.transact(work)
        assert len(seen) == CONFLICT_TRIES


def test_database_that_does_not_answer_is_not_asked_again(database: Database) -> None:
    seen: list[int] = []

    def work(connection: Connection) -> None:
        seen.append(1)
        connection.exec_driver_sql("select * from no_such_table")

    with pytest.raises(CatalogUnreachable) as caught:
        database.transact(work)
    assert (len(seen), caught.value.attributes) == (1, {"conflict": False})


class TakenBack(Exception):
    """What a driver raises; PostgreSQL's carry a state, MySQL's a number first."""

    def __init__(self, *args: object, sqlstate: str | None = None) -> None:
        super().__init__(*args)
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("error", "conflict"),
    [
        (TakenBack("deadlock detected", sqlstate="40P01"), True),
        (TakenBack("could not serialize", sqlstate="40001"), True),
        (TakenBack("connection refused", sqlstate="08006"), False),
        (TakenBack(1213, "Deadlock found"), True),
        (TakenBack(1020, "Record has changed"), True),
        (TakenBack(2003, "Can't connect"), False),
        (TakenBack(), False),
    ],
)
def test_conflicts_are_told_from_other_failures(error: Exception, conflict: bool) -> None:
    assert _is_conflict(error) is conflict


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
