import os
import unicodedata
from pathlib import Path

import pytest

from pincite.documents.discovery import (
    FILE_NAME_UNSUPPORTED,
    FILE_TOO_LARGE,
    FOLDER_UNREADABLE,
    SYMLINK_SKIPPED,
    Discovery,
    discover,
)
from pincite.errors import RequestInvalid

SUFFIXES = frozenset({".md", ".txt"})


def find(root: Path, base: Path | None = None, limit: int = 1_000) -> Discovery:
    return discover(root, base or root, "docs", limit, SUFFIXES)


def write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def sources(found: Discovery) -> list[str]:
    return [file.source for file in found.files]


def test_files_are_sorted_by_source_below_the_source_name(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.TXT", "a.md"):
        write(tmp_path / name)
    found = find(tmp_path)
    assert sources(found) == ["docs/a.md", "docs/a/z.TXT", "docs/b.md"]
    assert found.files[0].path == tmp_path / "a.md"
    assert (found.files[0].size, found.files[0].source_name) == (1, "docs")
    assert found.complete


def test_hidden_names_and_node_modules_are_not_walked(tmp_path: Path) -> None:
    for name in (".git/a.md", ".hidden.md", "node_modules/p/readme.md", "a.md"):
        write(tmp_path / name)
    found = find(tmp_path)
    assert sources(found) == ["docs/a.md"]
    assert found.present == {"docs/a.md"}


def test_other_types_are_counted_and_present(tmp_path: Path) -> None:
    write(tmp_path / "logo.png")
    found = find(tmp_path)
    assert (found.files, found.skipped, found.notices) == ((), 1, ())
    assert found.present == {"docs/logo.png"}


def test_large_file_is_present_but_skipped_with_a_notice(tmp_path: Path) -> None:
    write(tmp_path / "big.md", "x" * 11)
    write(tmp_path / "fits.md", "x" * 10)
    found = find(tmp_path, limit=10)
    assert sources(found) == ["docs/fits.md"]
    assert found.present == {"docs/big.md", "docs/fits.md"}
    assert [(n.code, n.source) for n in found.notices] == [(FILE_TOO_LARGE, "docs/big.md")]


def test_names_are_nfc_and_equal_ones_are_both_returned(tmp_path: Path) -> None:
    for form in ("NFC", "NFD"):
        write(tmp_path / f"{unicodedata.normalize(form, 'é')}.md")
    if len(os.listdir(tmp_path)) == 1:
        pytest.skip("this file system holds only one of two names that are equal after NFC")
    assert sources(find(tmp_path)) == ["docs/é.md", "docs/é.md"]


def test_folder_below_the_base_keeps_its_sources(tmp_path: Path) -> None:
    write(tmp_path / "guide/a.md")
    write(tmp_path / "b.md")
    assert sources(find(tmp_path / "guide", tmp_path)) == ["docs/guide/a.md"]


def test_single_file_keeps_its_source(tmp_path: Path) -> None:
    path = write(tmp_path / "guide/a.md")
    assert sources(find(path, tmp_path)) == ["docs/guide/a.md"]


def test_relative_root_is_found_below_its_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "guide/a.md")
    monkeypatch.chdir(tmp_path)
    found = find(Path("guide"), tmp_path)
    assert sources(found) == ["docs/guide/a.md"]
    assert found.files[0].path.is_absolute()


@pytest.mark.parametrize("name", ["a.png", "missing.md", ".hidden.md", ".git/a.md"])
def test_single_file_that_is_not_read_is_refused(tmp_path: Path, name: str) -> None:
    if name != "missing.md":
        write(tmp_path / name)
    with pytest.raises(RequestInvalid):
        find(tmp_path / name, tmp_path)


def test_root_outside_of_its_base_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "other/a.md")
    (tmp_path / "base").mkdir()
    with pytest.raises(RequestInvalid, match="not below"):
        find(tmp_path / "other", tmp_path / "base")
    with pytest.raises(RequestInvalid, match="not below"):
        find(tmp_path / "base/../other", tmp_path / "base")


@pytest.mark.parametrize("name", ["", " ", "a/b", "a\nb"])
def test_unusable_source_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RequestInvalid, match="source name"):
        discover(tmp_path, tmp_path, name, 1, SUFFIXES)


def test_link_loop_ends_and_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a/b.md")
    (tmp_path / "a/loop").symlink_to(tmp_path, target_is_directory=True)
    found = find(tmp_path)
    assert sources(found) == ["docs/a/b.md"]
    assert [(n.code, n.source) for n in found.notices] == [(SYMLINK_SKIPPED, "docs/a/loop")]


def test_link_to_a_file_inside_is_followed(tmp_path: Path) -> None:
    (tmp_path / "b.md").symlink_to(write(tmp_path / "a.md"))
    assert sources(find(tmp_path)) == ["docs/a.md", "docs/b.md"]


def test_link_to_a_file_outside_is_not_read_but_present(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.md")
    base = tmp_path / "base"
    base.mkdir()
    (base / "a.md").symlink_to(secret)
    found = find(base)
    assert (found.files, found.present, found.skipped) == ((), {"docs/a.md"}, 1)
    assert [n.code for n in found.notices] == [SYMLINK_SKIPPED]


def test_dangling_link_is_not_present(tmp_path: Path) -> None:
    (tmp_path / "a.md").symlink_to(tmp_path / "gone.md")
    found = find(tmp_path)
    assert (found.files, found.present, found.skipped) == ((), frozenset(), 1)


def test_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert find(tmp_path).present == frozenset()


def test_root_that_is_a_link_to_a_folder_is_walked(tmp_path: Path) -> None:
    write(tmp_path / "real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert sources(find(tmp_path / "link")) == ["docs/a.md"]


def test_folder_that_cannot_be_listed_makes_it_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.md")
    locked = write(tmp_path / "locked/b.md").parent
    # Permissions do not stop every account, so the refusal itself is put in place.
    scandir = os.scandir

    def refuse(path: str) -> object:
        if Path(path) == locked:
            raise PermissionError(13, "refused")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = find(tmp_path)
    assert not found.complete
    assert sources(found) == ["docs/a.md"]
    assert [(n.code, n.source) for n in found.notices] == [(FOLDER_UNREADABLE, "docs/locked")]


def test_name_that_is_not_unicode_is_skipped_with_a_notice(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system refuses names that are not valid Unicode")
    found = find(tmp_path)
    assert (found.files, found.skipped) == ((), 1)
    assert [n.code for n in found.notices] == [FILE_NAME_UNSUPPORTED]
    found.notices[0].message.encode()


def test_empty_folder_gives_an_empty_discovery(tmp_path: Path) -> None:
    assert find(tmp_path) == Discovery((), frozenset(), 0, (), True)
