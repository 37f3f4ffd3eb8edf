"""What discovery finds: files, and what was seen of each source."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from pincite.errors import RequestInvalid


@dataclass(frozen=True)
class Root:
    """One path of a sync and the source that it belongs to.

    ``base`` is the folder that the source is bound to; ``path`` is it or lies below it.
    """

    path: Path
    base: Path
    source_name: str

    @property
    def prefix(self) -> str:
        """What every ``source`` at or below the path begins with."""
        below = nfc(self.path.relative_to(self.base).as_posix())
        return f"{self.source_name}/" if below == "." else f"{self.source_name}/{below}/"


@dataclass(frozen=True)
class Extent:
    """What of a source a sync has seen: the ground for pruning.

    ``present`` are the locations of all visible files below ``prefix``; pruning is only allowed
    where ``prunable``.
    """

    source_name: str
    prefix: str
    present: frozenset[str]
    prunable: bool


class Discovered(NamedTuple):
    """Files to read, what was seen of each source, odd things, how many files were skipped."""

    files: pa.Table
    extents: tuple[Extent, ...]
    notices: pa.Table
    skipped: int
    roots: tuple[Root, ...]


def existing(given: str) -> Path:
    """The path that a person gave, absolute.

    Raises:
        RequestInvalid: There is nothing there.
    """
    path = Path(given).expanduser().resolve()
    if not path.exists():
        raise RequestInvalid(f"{given!r} does not exist.", "Check the path.")
    return path


def nfc(text: str) -> str:
    """Unicode NFC: names of files come decomposed from some systems, identities never are."""
    return unicodedata.normalize("NFC", text)
