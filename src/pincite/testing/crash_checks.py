"""What must hold after a run that put right what a killed one left."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping

from pincite.errors import PinciteError
from pincite.identity import parse_chunk_key, text_sha256
from pincite.retrieval.citation import CURRENT, cite
from pincite.settings import Settings
from pincite.testing.crash_prober import Text
from pincite.verification import verify
from pincite.wiring import Workspace, open_workspace
from pincite.writing.receipt import Receipt

CORPUS = "docs"

# Digest of the text by evidence key.
Rows = Mapping[str, str]


def rows_in_store(settings: Settings) -> list[Text]:
    """Every row of the live collection, by a Strong scan."""

    async def read() -> list[Text]:
        async with open_workspace(settings) as workspace:
            return await _rows(workspace)

    return asyncio.run(read())


async def _rows(workspace: Workspace) -> list[Text]:
    live = await asyncio.to_thread(workspace.catalog.generations.require_live, CORPUS)
    pages = workspace.store.scan(live.collection, None, ["content_sha256"])
    return [
        (row["vector_id"], row["content_sha256"])
        async for page in pages
        for row in page.to_pylist()
    ]


def problems_of(settings: Settings, expected: Rows, seen: Iterable[Text]) -> list[str]:
    """Everything that is not as it must be; ``seen`` are texts that readers were given."""

    async def check() -> list[str]:
        async with open_workspace(settings) as workspace:
            found = await _verification(workspace)
            found += _differences(await _rows(workspace), expected)
            found += await asyncio.to_thread(_still_open, workspace, expected)
            texts = {*expected.items(), *seen}
            return found + await asyncio.to_thread(_uncitable, workspace, texts, expected)

    return asyncio.run(check())


def problems_between(settings: Settings, expected: Rows) -> list[str]:
    """What must hold after any run at all: nothing is half written."""

    async def check() -> list[str]:
        async with open_workspace(settings) as workspace:
            found = await _verification(workspace)
            return found + await asyncio.to_thread(_still_open, workspace, expected)

    return asyncio.run(check())


def uncitable(settings: Settings, seen: Iterable[Text]) -> list[str]:
    """Texts that readers were given and that cannot be cited, at this moment."""

    async def check() -> list[str]:
        async with open_workspace(settings) as workspace:
            return await asyncio.to_thread(_uncitable, workspace, frozenset(seen))

    return asyncio.run(check())


def document_of(key: str) -> str:
    """The document that the key is one of."""
    parsed = parse_chunk_key(key)
    assert parsed is not None
    return parsed.doc_id


async def _verification(workspace: Workspace) -> list[str]:
    found = await verify(workspace.catalog, workspace.store, workspace.texts)
    return [] if found.ok else [f"verify: {found.as_dict()}"]


def _differences(rows: list[Text], expected: Rows) -> list[str]:
    counts = Counter(key for key, _ in rows)
    there = dict(rows)
    return [
        *(f"{key}: {count} rows" for key, count in counts.items() if count > 1),
        *(f"{key}: missing" for key in expected.keys() - there.keys()),
        *(f"{key}: should not be there" for key in there.keys() - expected.keys()),
        *(f"{key}: another text" for key in there if expected.get(key, there[key]) != there[key]),
    ]


def _still_open(workspace: Workspace, expected: Rows) -> list[str]:
    journal = workspace.catalog.journal
    documents = sorted({document_of(key) for key in expected})
    return [f"{d}: open in the journal" for d in documents if journal.open_versions(CORPUS, d)]


def _uncitable(
    workspace: Workspace, seen: Iterable[Text], current: Rows | None = None
) -> list[str]:
    """Also where ``cite`` is wrong about which texts are ``current``, if those are given."""
    problems = []
    for key, digest in seen:
        try:
            found = cite(key, workspace.catalog, workspace.texts, sha256=digest)
        except PinciteError as error:
            problems.append(f"{key}: cite says {error.code}")
            continue
        if text_sha256(found.text) != digest:
            problems.append(f"{key}: cite gives another text")
        if current is not None and (current.get(key) == digest) != (found.state == CURRENT):
            problems.append(f"{key}: cite says {found.state}")
    return problems


def idle_problems(receipt: Receipt) -> list[str]:
    """A run after the last change writes, deletes and embeds nothing."""
    did = {
        "written": receipt.chunks["written"],
        "deleted": receipt.chunks["deleted"],
        "embedded": receipt.embeddings["computed"],
    }
    return [f"the run after: {count} {name}" for name, count in did.items() if count]
