"""Discover: which files, or parts of files, an ingest takes."""

from __future__ import annotations

import asyncio

from pincite.corpora.port import FileCorpus, ItemCorpus
from pincite.wiring import Workspace, current_workspace
from pincite.writing.discover_files import find_files
from pincite.writing.discover_items import find_items
from pincite.writing.found import Discovered, Root
from pincite.writing.request import IngestRequest


async def discover(request: IngestRequest) -> Discovered:
    """Walk the request's paths; changes nothing.

    Raises:
        RequestInvalid: A path does not exist or cannot be read by any reader.
        SourceConflict: A source name is bound to another folder.
    """
    return await asyncio.to_thread(find, current_workspace(), request)


def find(workspace: Workspace, request: IngestRequest) -> Discovered:
    """The same, blocking."""
    adapter = workspace.corpora[request.corpus]
    if isinstance(adapter, ItemCorpus):
        return find_items(workspace, adapter, request)
    assert isinstance(adapter, FileCorpus)
    return find_files(workspace, adapter, request)


def bind(workspace: Workspace, corpus: str, roots: tuple[Root, ...]) -> None:
    """Bind new sources to their folders.

    Raises:
        SourceConflict: A source name was bound to another folder meanwhile.
    """
    for root in roots:
        workspace.catalog.generations.bind_root(corpus, root.source_name, str(root.base))
