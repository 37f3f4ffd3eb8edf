"""Which files a folder sync takes, and which it sees but leaves."""

from __future__ import annotations

import os
import stat
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from pincite.documents.model import FoundFile, Notice
from pincite.errors import RequestInvalid

FILE_TOO_LARGE = "FILE_TOO_LARGE"
FILE_NAME_UNSUPPORTED = "FILE_NAME_UNSUPPORTED"
FOLDER_UNREADABLE = "FOLDER_UNREADABLE"
SYMLINK_SKIPPED = "SYMLINK_SKIPPED"

NOT_WALKED = frozenset({"node_modules"})


@dataclass(frozen=True)
class Discovery:
    """What was found below a folder.

    Attributes:
        files: Files to read, sorted by ``source``. Two file names that are equal after NFC give
            two entries with one ``source``; the caller settles identity.
        present: ``source`` of every visible file, also of those that are not read. Only what is
            absent here, and only when ``complete``, may be pruned.
        skipped: Files seen and not read: other types, too large, unusable names and links.
        notices: What was odd, each with its ``source``.
        complete: False when a folder or a file's state could not be read.
    """

    files: tuple[FoundFile, ...]
    present: frozenset[str]
    skipped: int
    notices: tuple[Notice, ...]
    complete: bool


def discover(
    root: Path, base: Path, source_name: str, max_file_bytes: int, suffixes: frozenset[str]
) -> Discovery:
    """Find the files at or below ``root``.

    Hidden names and ``node_modules`` are not walked. A link to a folder is never followed, so
    loops end; a link to a file is followed only where it leads to a file below ``base``. Either
    way a link that is left aside is named in a ``SYMLINK_SKIPPED`` notice.

    Args:
        root: Folder or single file asked for: ``base`` or something below it.
        base: Folder that the source is bound to (for a file outside of any, its folder).
        source_name: Name of the source, without a slash.
        max_file_bytes: Larger files are skipped with a ``FILE_TOO_LARGE`` notice.
        suffixes: Supported suffixes in lower case, with the dot.

    Raises:
        RequestInvalid: ``root`` does not exist, is not below ``base``, is hidden there, or is a
            single file of an unsupported type; or the source name is unusable.
    """
    _check_name(source_name)
    walk = _Walk(base.resolve(), source_name, max_file_bytes, suffixes)
    relative = _relative(root, base)
    if root.is_dir():
        walk.folder(str(root.absolute()), relative)
    else:
        _check_file(root, suffixes)
        walk.file(str(root.absolute()), relative, root.is_symlink())
    return walk.result()


def _check_name(source_name: str) -> None:
    if not source_name.strip() or "/" in source_name or not source_name.isprintable():
        raise RequestInvalid(
            f"{source_name!r} is not a source name.",
            "Give a name without slashes and control characters with --source.",
        )


def _relative(root: Path, base: Path) -> str:
    pairs = ((root.absolute(), base.absolute()), (root.resolve(), base.resolve()))
    inner = next((r.relative_to(b) for r, b in pairs if r.is_relative_to(b)), None)
    if inner is None or ".." in inner.parts:
        raise RequestInvalid(f"{str(root)!r} is not below the synced folder {str(base)!r}.")
    hidden = [part for part in inner.parts if _hidden(part)]
    if hidden:
        raise RequestInvalid(
            f"{str(root)!r} is not part of the synced folder: {hidden[0]!r} is not walked.",
            "Sync that folder by itself, as a source of its own.",
        )
    return "" if inner == Path() else inner.as_posix()


def _check_file(path: Path, suffixes: frozenset[str]) -> None:
    if not path.is_file():
        raise RequestInvalid(f"{str(path)!r} is not a file or a folder.", "Check the path.")
    if path.suffix.lower() not in suffixes:
        raise RequestInvalid(
            f"{str(path)!r} is of a type that is not read.",
            f"Types that are read here: {', '.join(sorted(suffixes))}.",
        )


def _hidden(name: str) -> bool:
    return name.startswith(".") or name in NOT_WALKED


@dataclass
class _Walk:
    base: Path
    source_name: str
    max_file_bytes: int
    suffixes: frozenset[str]
    files: list[FoundFile] = field(default_factory=list)
    present: set[str] = field(default_factory=set)
    skipped: int = 0
    notices: list[Notice] = field(default_factory=list)
    complete: bool = True

    def folder(self, path: str, relative: str) -> None:
        pending = [(path, relative)]
        while pending:
            here, inner = pending.pop()
            for entry in self._entries(here, inner):
                below = f"{inner}/{entry.name}" if inner else entry.name
                if entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, below))
                else:
                    self.file(entry.path, below, entry.is_symlink())

    def file(self, path: str, relative: str, is_link: bool) -> None:
        source = self._source(relative)
        if not _encodable(source):
            self._skip(FILE_NAME_UNSUPPORTED, source, "has a name that is not valid Unicode")
            return
        if is_link and not self._link_stays(path, source):
            return
        info = self._stat(path, source)
        if info is None or not stat.S_ISREG(info.st_mode):
            return
        self.present.add(source)
        self._take(path, source, info.st_size)

    def result(self) -> Discovery:
        files = sorted(self.files, key=lambda f: (f.source, str(f.path)))
        notices = sorted(self.notices, key=lambda n: (n.source, n.code))
        return Discovery(
            tuple(files), frozenset(self.present), self.skipped, tuple(notices), self.complete
        )

    def _take(self, path: str, source: str, size: int) -> None:
        if os.path.splitext(path)[1].lower() not in self.suffixes:
            self.skipped += 1
        elif size > self.max_file_bytes:
            what = f"has {size} bytes, more than rag.ingest.max-file-bytes = {self.max_file_bytes}"
            self._skip(FILE_TOO_LARGE, source, what)
        else:
            self.files.append(FoundFile(Path(path), source, size))

    def _entries(self, path: str, relative: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(path) as entries:
                return [entry for entry in entries if not _hidden(entry.name)]
        except OSError:
            self._unknown(self._source(relative), "could not be listed")
            return []

    def _stat(self, path: str, source: str) -> os.stat_result | None:
        try:
            return os.stat(path)
        except FileNotFoundError:
            return None
        except OSError:
            self._unknown(source, "could not be looked at")
            return None

    def _link_stays(self, path: str, source: str) -> bool:
        target = Path(os.path.realpath(path))
        if target.is_file() and target.is_relative_to(self.base):
            return True
        if target.is_file():
            # The name is still there: what was ingested under it is not pruned.
            self.present.add(source)
        self._skip(SYMLINK_SKIPPED, source, "is a link to a folder, to nothing or to outside")
        return False

    def _source(self, relative: str) -> str:
        whole = f"{self.source_name}/{relative}" if relative else self.source_name
        return unicodedata.normalize("NFC", whole)

    def _skip(self, code: str, source: str, what: str) -> None:
        self.skipped += 1
        shown = source.encode("utf-8", "replace").decode()
        self.notices.append(Notice(code, f"{shown!r} {what}; it is not read.", shown))

    def _unknown(self, source: str, what: str) -> None:
        self.complete = False
        shown = source.encode("utf-8", "replace").decode()
        message = f"{shown!r} {what}; nothing is pruned. Check its permissions."
        self.notices.append(Notice(FOLDER_UNREADABLE, message, shown))


def _encodable(source: str) -> bool:
    try:
        source.encode()
    except UnicodeEncodeError:
        return False
    return True
