"""Preview: what an ingest would change, without changing anything."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pincite.catalog.leases import Writer
from pincite.schemas import outcomes
from pincite.schemas.notices import FAILURE, failure
from pincite.scopes import scope_columns
from pincite.wiring import Workspace, current_workspace
from pincite.writing.chunk import chunk
from pincite.writing.compare import compare
from pincite.writing.discover import find
from pincite.writing.found import Extent
from pincite.writing.ingest import in_batches
from pincite.writing.read import peek
from pincite.writing.request import IngestRequest
from pincite.writing.tables import Compared, joined, rows_of
from pincite.writing.target import Target
from pincite.writing.vanish import Seen, may_prune, refusal

PREVIEWED = 5
PREVIEW_CHARS = 400
SAMPLE = 4
# A remote embedder is asked nothing, because asking costs money.
LOCAL_PROVIDERS = frozenset({"local", "hash", "fastembed"})


@dataclass
class Preview:
    """Documents by outcome, chunks, and what embedding would take.

    ``seconds`` is measured on a few of the chunks, ``None`` for a remote embedder; ``cost`` is
    in the currency of ``embedder.price-per-million-tokens``, ``None`` where no price is set.
    """

    documents: Counter[str] = field(default_factory=Counter)
    chunks: int = 0
    texts: int = 0
    cached: int = 0
    tokens: int = 0
    previews: list[dict[str, Any]] = field(default_factory=list)
    failures: list[dict[str, str]] = field(default_factory=list)
    sample: list[tuple[str, int]] = field(default_factory=list)
    seconds: float | None = None
    cost: float | None = None

    @property
    def ok(self) -> bool:
        return not self.failures

    def as_dict(self) -> dict[str, Any]:
        return {
            "dry_run": True,
            "documents": {
                name: self.documents[name]
                for name in ("added", "updated", "unchanged", "deleted", "skipped", "failed")
            },
            "chunks": {"to_write": self.chunks},
            "embeddings": {"texts": self.texts, "cached": self.cached, "tokens": self.tokens},
            "estimate": {"seconds": self.seconds, "cost": self.cost},
            "previews": self.previews,
            "failures": self.failures,
        }


async def preview(request: IngestRequest) -> Preview:
    """Read, compare and cut as the ingest would, and stop there.

    Raises:
        EmbedderChanged, RecipeChanged, SourceConflict, RequestInvalid: As the ingest would.
    """
    workspace, found = current_workspace(), Preview()
    files = await asyncio.to_thread(find, workspace, request)
    found.documents["skipped"] = files.skipped
    target = await asyncio.to_thread(_target, workspace, request.corpus)
    seen = Seen(replaces=bool(scope_columns(request.corpus)))
    for part in in_batches(files.files, workspace.settings.rag.ingest):
        brought = await peek(request.corpus, part)
        documents, conflicts = seen.take(brought.documents)
        compared = await compare(target, documents)
        _count(found, target, workspace, compared)
        _count_failures(found, brought.notices, conflicts, compared.notices)
        await _cut(found, workspace, compared.changed)
    _count_vanished(found, workspace, target, request, files.extents, seen)
    await _estimate(found, workspace)
    return found


def _target(workspace: Workspace, corpus: str) -> Target:
    """The live generation as a reader sees it; an empty one where there is none."""
    live = workspace.catalog.generations.live(corpus)
    if live is not None:
        live.recipe.require_same(workspace.recipe, corpus)
    number = live.number if live else 0
    collection = live.collection if live else ""
    reader = Writer(corpus, number, owner="", fence=0, ttl_ms=0)
    return Target(corpus, number, collection, workspace.recipe, reader, frozenset())


def _count(found: Preview, target: Target, workspace: Workspace, compared: Compared) -> None:
    left = Counter(compared.outcomes["outcome"].to_pylist())
    found.documents["unchanged"] += left[outcomes.UNCHANGED] + left[outcomes.EMPTY]
    ids = compared.changed["doc_id"].to_pylist()
    held = workspace.catalog.documents.held(target.corpus, target.generation, ids)
    known = sum(one.version > 0 for one in held.values())
    found.documents["updated"] += known
    found.documents["added"] += len(ids) - known


def _count_failures(found: Preview, *notices: pa.Table) -> None:
    failures = [row for row in rows_of(joined(notices)) if row["severity"] == FAILURE]
    found.failures += failures
    found.documents["failed"] += len(failures)


async def _cut(found: Preview, workspace: Workspace, documents: pa.Table) -> None:
    if not documents.num_rows:
        return
    chunks = (await chunk(documents)).chunks
    contents, tokens = chunks["content"].to_pylist(), chunks["tokens"].to_pylist()
    missing = await workspace.passages.missing(contents)
    found.chunks += chunks.num_rows
    found.texts += len(missing)
    found.cached += chunks.num_rows - len(missing)
    found.tokens += sum(tokens[at] for at in missing)
    found.sample += [(contents[at], tokens[at]) for at in missing[: SAMPLE - len(found.sample)]]
    for row in rows_of(chunks.slice(0, max(0, PREVIEWED - len(found.previews)))):
        shown = {name: row[name] for name in ("evidence_key", "heading", "tokens")}
        found.previews.append({**shown, "text": row["content"][:PREVIEW_CHARS]})


def _count_vanished(
    found: Preview,
    workspace: Workspace,
    target: Target,
    request: IngestRequest,
    extents: tuple[Extent, ...],
    seen: Seen,
) -> None:
    for extent in extents:
        if not may_prune(request, extent):
            continue
        held = workspace.catalog.documents.of_source(
            target.corpus, target.generation, extent.source_name, request.kb_scope
        )
        stamped = [one for one in held if one.version]
        vanished = seen.vanished(stamped, extent)
        refused = refusal(request, extent, len(vanished), len(stamped))
        if refused is None:
            found.documents["deleted"] += len(vanished)
        else:
            found.failures.append(failure("", extent.source_name, refused))


async def _estimate(found: Preview, workspace: Workspace) -> None:
    price = workspace.settings.embedder.price_per_million_tokens
    found.cost = None if price is None else found.tokens / 1e6 * price
    if not found.sample:
        found.seconds = 0.0
    elif workspace.settings.embedder.provider in LOCAL_PROVIDERS:
        started = time.perf_counter()
        await workspace.embedder.embed([text for text, _ in found.sample], "add")
        per_token = (time.perf_counter() - started) / max(1, sum(n for _, n in found.sample))
        found.seconds = per_token * found.tokens
