import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pincite.catalog.catalog import Catalog
from pincite.identity import bytes_sha256
from pincite.retrieval.source_state import file_digests, source_state

RAW = b"# A\r\nwords\n"


@pytest.fixture
def state(tmp_path: Path) -> Any:
    """From a record to the state of its source, below one bound folder."""
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.md").write_bytes(RAW)
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.sqlite'}")
    catalog.generations.bind_root("docs", "notes", str(folder))
    digest = file_digests(catalog)

    def told(record: Mapping[str, Any], raw: bytes = RAW, corpus: str = "docs") -> str:
        return source_state(bytes_sha256(raw), digest(corpus, record))

    yield told
    catalog.close()


def _record(source: str, source_name: str = "notes") -> dict[str, str]:
    return {"source": source, "source_name": source_name}


def test_the_same_bytes_are_unchanged(state: Any) -> None:
    assert state(_record("notes/deep/a.md")) == "unchanged"


def test_other_bytes_are_changed(state: Any) -> None:
    assert state(_record("notes/deep/a.md"), b"other") == "changed"


@pytest.mark.parametrize("path", ["notes/deep/b.md", "notes/gone/a.md", "notes/deep"])
def test_a_file_that_is_not_there_is_missing(state: Any, path: str) -> None:
    assert state(_record(path)) == "missing"


@pytest.mark.parametrize(
    "record",
    [
        _record("https://example.org/a", ""),
        _record("wiki/a.md", "wiki"),
        _record("notes/../secret.md"),
        _record("elsewhere/a.md"),
        {},
    ],
)
def test_what_no_folder_is_bound_to_is_unknown(state: Any, record: dict[str, str]) -> None:
    assert state(record) == "unknown"


def test_another_corpus_has_other_folders(state: Any) -> None:
    assert state(_record("notes/deep/a.md"), corpus="wiki") == "unknown"


def test_a_folder_that_is_not_on_this_machine_is_unknown(state: Any, tmp_path: Path) -> None:
    (tmp_path / "notes").rename(tmp_path / "moved")
    assert state(_record("notes/deep/a.md")) == "unknown"


def test_a_name_in_another_unicode_form_is_found(state: Any, tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "Größe.md")
    (tmp_path / "notes" / decomposed).write_bytes(RAW)
    assert state(_record("notes/Größe.md")) == "unchanged"


def test_without_a_raw_digest_nobody_can_tell() -> None:
    assert source_state("", "1" * 64) == "unknown"
