"""What the tables ask of databases that are not running here: read off their DDL."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Column, Dialect, String, create_engine, text
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.dialects.mysql import VARBINARY
from sqlalchemy.dialects.mysql.mariadb import MariaDBDialect
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import LargeBinary

from pincite.catalog.tables import METADATA
from pincite.catalog.types import Exact

# InnoDB's limit of an index key in bytes.
MYSQL_INDEX_BYTES = 3_072
MYSQL: list[Dialect] = [mysql.dialect(), MariaDBDialect()]
UTF8MB4_BYTES = 4
NUMBER_BYTES = 8


def indexes() -> Iterator[tuple[str, list[Column[object]]]]:
    for table in METADATA.tables.values():
        yield f"{table.name} key", list(table.primary_key.columns)
        for index in (*table.indexes, *(c for c in table.constraints if hasattr(c, "columns"))):
            yield f"{table.name} {index.name}", list(index.columns)


def width(column: Column[object], dialect: Dialect) -> int:
    type_ = column.type.dialect_impl(dialect)
    inner = type_.impl_instance if isinstance(type_, Exact) else type_
    if isinstance(inner, VARBINARY | LargeBinary):
        return int(inner.length or 0)
    if isinstance(inner, String):
        return int(inner.length or MYSQL_INDEX_BYTES) * UTF8MB4_BYTES
    return NUMBER_BYTES


@pytest.mark.parametrize("dialect", MYSQL, ids=lambda d: d.name)
def test_every_index_fits_into_innodb(dialect: Dialect) -> None:
    found = {name: sum(width(c, dialect) for c in columns) for name, columns in indexes()}
    assert {name: size for name, size in found.items() if size > MYSQL_INDEX_BYTES} == {}
    assert max(found.values()) > 2_000


@pytest.mark.parametrize("dialect", MYSQL, ids=lambda d: d.name)
def test_ids_compare_by_bytes_where_collations_would_merge_them(dialect: Dialect) -> None:
    ddl = str(CreateTable(METADATA.tables["ledger"]).compile(dialect=dialect))
    assert "evidence_key VARBINARY(2240)" in ddl
    assert "heading MEDIUMTEXT" in ddl
    assert "ENGINE=InnoDB CHARSET=utf8mb4" in ddl


def test_ids_sort_by_bytes_on_postgresql() -> None:
    ddl = str(CreateTable(METADATA.tables["ledger"]).compile(dialect=postgresql.dialect()))
    assert 'doc_id VARCHAR(512) COLLATE "C"' in ddl


def test_every_indexed_text_is_exact_or_a_code() -> None:
    plain = {
        f"{column.table.name}.{column.name}"
        for _, columns in indexes()
        for column in columns
        if isinstance(column.type, String) and not isinstance(column.type, Exact)
    }
    assert plain == set()


def test_binary_column_gives_text_back() -> None:
    dialect, exact = mysql.dialect(), Exact(8)
    stored = exact.process_bind_param("é ", dialect)
    assert stored == "é ".encode()
    assert exact.process_bind_param(None, dialect) is None
    read = exact.result_processor(dialect, None)
    assert read is not None
    assert (read(stored), read(None)) == ("é ", None)


def test_text_column_takes_text_as_it_is() -> None:
    exact = Exact(8)
    assert exact.bind_processor(postgresql.dialect()) is None
    assert exact.result_processor(sqlite.dialect(), None) is None


def test_binary_column_has_room_for_what_the_callers_bound() -> None:
    ddl = str(CreateTable(METADATA.tables["l0_terms"]).compile(dialect=mysql.dialect()))
    assert "term VARBINARY(320)" in ddl
    assert "doc_id VARBINARY(512)" in ddl
    ddl = str(CreateTable(METADATA.tables["l0_terms"]).compile(dialect=sqlite.dialect()))
    assert "doc_id VARCHAR(512)" in ddl


@pytest.mark.parametrize(
    ("query", "step"),
    [
        ("select * from ledger where evidence_key = 'k'", "ix_ledger_key"),
        (
            "update journal set expires_at = 1 where corpus = 'c' and generation = 1"
            " and owner = 'o' and open_slot = 1",
            "ix_journal_open",
        ),
        (
            "select max(version) from journal where corpus = 'c' and doc_id in ('a', 'b')"
            " group by doc_id",
            "(corpus=? AND doc_id=?)",
        ),
    ],
)
def test_frequent_queries_use_an_index(tmp_path: Path, query: str, step: str) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'plan.sqlite'}")
    with engine.begin() as connection:
        METADATA.create_all(connection)
        plan = str(connection.execute(text(f"explain query plan {query}")).all())
    engine.dispose()
    assert step in plan
