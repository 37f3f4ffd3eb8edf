"""Discover, for corpora of items: files with one item a line, in parts of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pincite.corpora.port import ItemCorpus
from pincite.errors import ReadFailed, RequestInvalid
from pincite.schemas.files import FILES
from pincite.schemas.notices import NOTICES, failure
from pincite.wiring import Workspace
from pincite.writing.found import Discovered, existing
from pincite.writing.request import IngestRequest


def find_items(workspace: Workspace, adapter: ItemCorpus, request: IngestRequest) -> Discovered:
    """The files of the request's paths, cut at line ends; nothing is bound and nothing pruned.

    Raises:
        RequestInvalid: A path does not exist, or is a file of another kind.
    """
    part_bytes = workspace.settings.rag.ingest.batch_bytes
    parts: list[dict[str, Any]] = []
    notices: list[dict[str, str]] = []
    for path in _files(request.paths, adapter.suffixes):
        try:
            parts += [_part(request, path, *span) for span in spans(path, part_bytes)]
        except OSError as exc:
            error = ReadFailed(f"{path.name!r} could not be read ({type(exc).__name__}).")
            notices.append(failure(path.name, path.name, error))
    workspace.report("files", len(parts))
    return Discovered(FILES.from_rows(parts), (), NOTICES.from_rows(notices), 0, ())


def _files(given: tuple[str, ...], suffixes: frozenset[str]) -> list[Path]:
    found: list[Path] = []
    for path in map(existing, given):
        if path.is_dir():
            inside = (p for p in path.rglob("*") if p.suffix.lower() in suffixes and p.is_file())
            found += sorted(inside)
        elif path.suffix.lower() in suffixes:
            found.append(path)
        else:
            wanted = " or ".join(sorted(suffixes))
            raise RequestInvalid(
                f"{path.name!r} holds no items.", f"Give files of type {wanted}, one item a line."
            )
    return list(dict.fromkeys(found))


def _part(request: IngestRequest, path: Path, start: int, size: int) -> dict[str, Any]:
    return {
        "path": str(path),
        "source": path.name,
        "source_name": "",
        "kb_scope": request.kb_scope,
        "category": "",
        "start": start,
        "size": size,
    }


def spans(path: Path, part_bytes: int) -> Iterator[tuple[int, int]]:
    """Start and size of each part: whole lines, at most ``part_bytes`` unless a line is longer."""
    start = size = 0
    with path.open("rb") as file:
        for line in file:
            if size and size + len(line) > part_bytes:
                yield start, size
                start, size = start + size, 0
            size += len(line)
    if size:
        yield start, size
