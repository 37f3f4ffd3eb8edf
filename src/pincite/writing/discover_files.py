"""Discover, for corpora of files: which files a sync takes, and to which source each belongs."""

from __future__ import annotations

from pathlib import Path

from pincite.corpora.port import FileCorpus
from pincite.documents.discovery import Discovery
from pincite.documents.discovery import discover as walk
from pincite.documents.model import FoundFile
from pincite.errors import SourceConflict
from pincite.schemas.files import FILES
from pincite.schemas.notices import NOTICES, warning
from pincite.wiring import Workspace
from pincite.writing.found import Discovered, Extent, Root, existing, nfc
from pincite.writing.request import IngestRequest


def find_files(workspace: Workspace, adapter: FileCorpus, request: IngestRequest) -> Discovered:
    """The files of the request's paths; blocks.

    Raises:
        RequestInvalid: A path does not exist or cannot be read by any reader.
        SourceConflict: A source name is bound to another folder.
    """
    files: dict[str, dict[str, object]] = {}
    extents, notices, skipped = [], [], 0
    bound = workspace.catalog.generations.roots(request.corpus)
    roots = _roots(request, bound)
    owners = {**bound, **{root.source_name: str(root.base) for root in roots}}
    for root in roots:
        found = walk(
            root.path,
            root.base,
            root.source_name,
            workspace.settings.rag.ingest.max_file_bytes,
            adapter.suffixes,
        )
        # Paths of a request may overlap, and a source may lie inside another: each file belongs
        # to the innermost source, and counts once.
        inner = [f for name, f in owners.items() if Path(f).is_relative_to(root.base)]
        own = [file for file in found.files if _innermost(file.path, inner) == root.base]
        files.update((str(file.path), _file_row(request, root, file)) for file in own)
        extents.append(_extent(root, found))
        notices += [warning(n.source, n.source, n.code, n.message) for n in found.notices]
        if not found.present:
            notices.append(_empty(root))
        skipped += found.skipped + len(found.files) - len(own)
    workspace.report("files", len(files))
    return Discovered(
        FILES.from_rows(files.values()),
        tuple(extents),
        NOTICES.from_rows(notices),
        skipped,
        tuple(roots),
    )


def _innermost(path: Path, folders: list[str]) -> Path:
    return max((Path(f) for f in folders if path.is_relative_to(f)), key=lambda f: len(f.parts))


def _file_row(request: IngestRequest, root: Root, file: FoundFile) -> dict[str, object]:
    return {
        "path": str(file.path),
        "source": file.source,
        "source_name": root.source_name,
        "kb_scope": request.kb_scope,
        "category": request.category,
        "start": 0,
        "size": file.size,
    }


def _empty(root: Root) -> dict[str, str]:
    message = f"{str(root.path)!r} holds no visible file; nothing is pruned."
    return warning(root.source_name, root.source_name, "FOLDER_EMPTY", message)


def _extent(root: Root, found: Discovery) -> Extent:
    whole_folder = root.path.is_dir() and bool(found.present)
    return Extent(
        root.source_name, root.prefix, found.present, prunable=whole_folder and found.complete
    )


def _roots(request: IngestRequest, bound: dict[str, str]) -> list[Root]:
    """The source of each path, outer paths first: one already bound above it, else a new one.

    Raises:
        RequestInvalid: A path does not exist.
        SourceConflict: A source name is bound to another folder.
    """
    bound, roots = dict(bound), []
    for path in sorted({existing(given) for given in request.paths}):
        root = _root_of(path, request.source, bound)
        if bound.setdefault(root.source_name, str(root.base)) != str(root.base):
            raise SourceConflict(
                f"Source {root.source_name!r} of corpus {request.corpus!r} is"
                f" {bound[root.source_name]!r}, not {str(root.base)!r}."
            )
        roots.append(root)
    return roots


def _root_of(path: Path, named: str | None, bound: dict[str, str]) -> Root:
    named = None if named is None else nfc(named)
    if named is not None and named in bound and path.is_relative_to(bound[named]):
        return Root(path, Path(bound[named]), named)
    if named is None:
        above = [(Path(f), name) for name, f in bound.items() if path.is_relative_to(f)]
        if above:
            base, name = max(above, key=lambda pair: len(pair[0].parts))
            return Root(path, base, name)
    base = path if path.is_dir() else path.parent
    return Root(path, base, named if named is not None else nfc(base.name))
