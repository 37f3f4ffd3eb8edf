"""How SQLite answers what is asked of the phrases and the lookup log: never by a scan."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event

from pincite.catalog.activity import LookupLine
from pincite.catalog.catalog import Catalog
from pincite.testing.catalog_suite_values import take, write


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(f"sqlite:///{tmp_path / 'catalog.sqlite'}")) as opened:
        writer = take(opened)
        write(opened, writer, *(f"d{number}" for number in range(50)))
        opened.activity.record_lookup(LookupLine("t", "docs", 1, "NONE", 0, "", ()))
        yield opened


class Plans:
    """The query plans of every statement that runs while it listens."""

    def __init__(self, catalog: Catalog) -> None:
        self._engines = (catalog._database._engine, catalog._database._notes)
        self.steps: list[str] = []

    def __enter__(self) -> list[str]:
        for engine in self._engines:
            event.listen(engine, "before_cursor_execute", self._explain)
        return self.steps

    def __exit__(self, *_: object) -> None:
        for engine in self._engines:
            event.remove(engine, "before_cursor_execute", self._explain)

    def _explain(self, _c, cursor, statement, parameters, _context, many) -> None:  # type: ignore[no-untyped-def]
        if statement.startswith(("SELECT", "DELETE", "UPDATE")) and not many:
            rows = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            self.steps += [row[3] for row in rows]


def reads(steps: list[str]) -> list[str]:
    """Steps that read a table, and sorts."""
    return [step for step in steps if step.startswith(("SCAN", "SEARCH", "USE TEMP"))]


@pytest.mark.parametrize("scope", ["", "team"])
def test_phrases_are_searched_in_the_order_of_the_key(catalog: Catalog, scope: str) -> None:
    with Plans(catalog) as steps:
        catalog.l0.match("docs", ["one", "zwei"], scope, ("rag-eval",))
    searched = [step for step in reads(steps) if "l0_terms" in step]
    assert searched
    assert all("PRIMARY KEY (corpus=? AND term=?" in step for step in searched)
    # The only scans are of the legs' own results.
    assert {step for step in reads(steps) if step not in searched} <= {
        f"SCAN leg_{number}" for number in range(16)
    }


def test_stamp_and_removal_search_by_document(catalog: Catalog) -> None:
    writer = take(catalog, "second", generation=2)
    with Plans(catalog) as steps:
        write(catalog, writer, "d1", "d2")
    assert not [step for step in reads(steps) if step.startswith("SCAN")]
    assert any("ix_l0_terms_document (corpus=? AND doc_id=?)" in step for step in steps)


def test_reads_of_one_row_search_for_it(catalog: Catalog) -> None:
    with Plans(catalog) as steps:
        catalog.revision("docs")
        catalog.activity.lookup("t")
        catalog.l0.described("docs", ["d1", "d2"], "", ("x",))
        catalog.l0.is_empty("docs")
        catalog.activity.record_lookup(LookupLine("t2", "docs", 1, "NONE", 0, "", ()))
    assert len(reads(steps)) == 5
    assert all(step.startswith("SEARCH") for step in reads(steps))
