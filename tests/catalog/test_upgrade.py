"""A catalogue of schema version 1, as that version wrote it, is opened and complete."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, inspect

from pincite.catalog import upgrade
from pincite.catalog.activity import LookupLine
from pincite.catalog.catalog import Catalog
from pincite.catalog.database import Database
from pincite.catalog.documents import FAILED, INDEXED
from pincite.catalog.tables import SCHEMA_VERSION
from pincite.errors import ConfigInvalid

VERSION_1 = Path(__file__).with_name("version_1.sql")
PROCESSES = 3
OLD_LINE = LookupLine("t2", "docs", 2, "SUFFICIENT", 5, "", ("rerank_failed",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "catalog.sqlite"
    with closing(sqlite3.connect(made)) as raw:
        raw.executescript(VERSION_1.read_text("utf-8"))
    return made


@pytest.fixture
def catalog(path: Path) -> Iterator[Catalog]:
    with closing(Catalog(f"sqlite:///{path}")) as opened:
        yield opened


def asked(path: Path, question: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute(question).fetchall()


def shape(path: Path) -> dict[str, Any]:
    """Columns and indexes of every table, without what a type is called."""
    engine = create_engine(f"sqlite:///{path}")
    schema = inspect(engine)
    found = {
        table: (
            [(c["name"], str(c["type"]), c["nullable"]) for c in schema.get_columns(table)],
            sorted((str(i["name"]), i["column_names"]) for i in schema.get_indexes(table)),
            schema.get_pk_constraint(table)["constrained_columns"],
        )
        for table in schema.get_table_names()
    }
    engine.dispose()
    return found


def python(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def test_documents_and_their_history_are_there(catalog: Catalog) -> None:
    assert catalog.documents.count_states("docs", 1) == {INDEXED: 4, FAILED: 1, "chunks": 8}
    assert catalog.generations.require_live("docs").recipe.embedder == "hash|é"
    assert catalog.generations.roots("docs") == {"manual": "/x/manual"}
    assert [entry.stamped for entry in catalog.ledger.entries("gone.md#chunk-0")] == [True]
    assert [run.run_id for run in catalog.activity.runs()] == ["r1"]


def test_documents_are_found_by_their_phrases_as_after_a_stamp(catalog: Catalog) -> None:
    phrases = ["rail", "ticket", "train", "travel", "travel rail", "hnsw 索引", "索引参数", "gone"]
    postings = catalog.l0.match("docs", phrases, "", ("rag-eval",))
    assert [(one.phrase, one.kind, one.doc_id) for one in postings] == [
        ("rail", "keyword", "rail.md"),
        ("ticket", "keyword", "rail.md"),
        ("train", "alias", "rail.md"),
        ("travel", "category", "rail.md"),
        ("travel rail", "title", "rail.md"),
        ("hnsw 索引", "keyword", "hnsw.md"),
        ("索引参数", "title", "hnsw.md"),
    ]
    scoped = catalog.l0.match("docs", ["rail"], "rag-eval", ())
    assert [one.doc_id for one in scoped] == ["eval.md"]
    assert catalog.l0.is_empty("memory")


def test_every_corpus_has_a_revision(catalog: Catalog) -> None:
    assert [catalog.revision(name) for name in ("docs", "memory", "web")] == [1, 1, 0]


def test_old_lines_are_read_and_new_ones_kept(catalog: Catalog) -> None:
    lines = catalog.activity.lookups("docs")
    assert [line.trace_id for line in lines] == ["t2", "t1", "t0"]
    assert lines[0] == replace(OLD_LINE, created_at=1_700_000_000_000)
    catalog.activity.record_lookup(replace(OLD_LINE, trace_id="new", mode="hybrid"))
    found = catalog.activity.lookup("new")
    assert found is not None
    assert found.mode == "hybrid"
    assert len(catalog.activity.lookups("docs")) == 4


def test_upgraded_tables_are_those_of_a_new_catalogue(
    catalog: Catalog, path: Path, tmp_path: Path
) -> None:
    Catalog(f"sqlite:///{tmp_path / 'new.sqlite'}").close()
    assert shape(path) == shape(tmp_path / "new.sqlite")
    assert asked(path, "select version from catalog_version") == [(SCHEMA_VERSION,)]


def test_a_catalogue_of_version_2_has_its_lines_and_room_for_items(tmp_path: Path) -> None:
    path = tmp_path / "version-2.sqlite"
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript(VERSION_1.with_name("version_2.sql").read_text("utf-8"))
    with closing(Catalog(f"sqlite:///{path}")) as catalog:
        line = catalog.activity.lookups("web")[0]
        assert (line.trace_id, line.kb_scope, len(line.blocks)) == ("t3", "team", 1)
        assert (line.stages, line.cached, line.connection) == ((), False, "")
        assert catalog.items["memory"].counts() == {}
        assert catalog.documents.count_states("docs", 1)[INDEXED] == 4
        assert catalog.revision("docs") == 1
    Catalog(f"sqlite:///{tmp_path / 'new.sqlite'}").close()
    assert shape(path) == shape(tmp_path / "new.sqlite")


def test_upgrade_runs_once(catalog: Catalog, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(upgrade.UPGRADES, 1, upgrade.Upgrade(_fail, _fail))
    with closing(Catalog(f"sqlite:///{path}")) as again:
        assert again.revision("docs") == 1


def test_several_processes_upgrade_at_once(path: Path) -> None:
    code = (
        "from pincite.catalog.catalog import Catalog;"
        f" catalog = Catalog('sqlite:///{path}');"
        " print(len(catalog.l0.match('docs', ['rail', 'travel'], '', ())))"
    )
    started = [python(code) for _ in range(PROCESSES)]
    assert [process.communicate(timeout=60)[0].strip() for process in started] == ["3"] * PROCESSES
    assert asked(path, "select count(*) from catalog_version") == [(1,)]
    assert asked(path, "select corpus, revision from revisions order by corpus") == [
        ("docs", 1),
        ("memory", 1),
    ]


def test_more_documents_than_one_page_are_filled(path: Path) -> None:
    copy = (
        "insert into documents select corpus, '{}', version, kb_scope, source_name, source,"
        " category, title, summary, keywords, tags, aliases, text_digest, updated_at"
        " from documents where corpus = 'docs' and doc_id = 'rail.md'"
    )
    with closing(sqlite3.connect(path)) as raw, raw:
        for number in range(2_200):
            raw.execute(copy.format(f"copy/{number}.md"))
    with closing(Catalog(f"sqlite:///{path}")) as catalog:
        found = catalog.l0.match("docs", ["train"], "", (), per_phrase_limit=5_000)
    assert len(found) == 2_201


def test_failed_upgrade_leaves_version_1_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = shape(path)
    step = upgrade.UPGRADES[1]
    monkeypatch.setitem(upgrade.UPGRADES, 1, replace(step, fill=_fail))
    with pytest.raises(KeyError):
        Database(f"sqlite:///{path}")
    assert asked(path, "select version from catalog_version") == [(1,)]
    assert shape(path) == before
    monkeypatch.setitem(upgrade.UPGRADES, 1, step)
    with closing(Catalog(f"sqlite:///{path}")) as catalog:
        assert len(catalog.l0.match("docs", ["train"], "", ())) == 1


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1])
def test_unknown_version_is_refused_and_left_alone(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(f"update catalog_version set version = {version}")
    before = shape(path)
    with pytest.raises(ConfigInvalid, match=f"schema version {version}"):
        Database(f"sqlite:///{path}")
    assert shape(path) == before


def test_opening_a_current_catalogue_does_not_import_alembic(catalog: Catalog, path: Path) -> None:
    code = (
        "import sys; from pincite.catalog.catalog import Catalog;"
        f" Catalog('sqlite:///{path}').close(); print('alembic' in sys.modules)"
    )
    assert python(code).communicate(timeout=60)[0].strip() == "False"


def _fail(_connection: object) -> None:
    raise KeyError("stop")
