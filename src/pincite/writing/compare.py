"""Compare: set apart the documents that the generation already holds as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from pincite.catalog.documents import FAILED, INDEXED, Indexed
from pincite.documents.record import fingerprint_of, record_of
from pincite.errors import IdentityConflict
from pincite.retrieval.source_state import file_digests
from pincite.schemas import outcomes
from pincite.schemas.notices import NOTICES, failure
from pincite.schemas.outcomes import outcome
from pincite.wiring import current_workspace
from pincite.writing.tables import Compared, rows_of
from pincite.writing.target import Target


async def compare(target: Target, documents: pa.Table) -> Compared:
    """Documents to write, outcomes of those to leave, and refusals.

    A document is left alone when its fingerprint is the stamped one and nothing is half written.
    """
    rows = rows_of(documents.drop_columns(["text"]))
    held = await asyncio.to_thread(
        current_workspace().catalog.documents.held,
        target.corpus,
        target.generation,
        [row["doc_id"] for row in rows],
    )
    digest = _digest_of_source(target.corpus)
    changed, left, notices = [], [], []
    for position, row in enumerate(rows):
        known = held.get(row["doc_id"])
        refusal = await asyncio.to_thread(_refusal, row, known, digest)
        if refusal is not None:
            notices.append(failure(row["doc_id"], row["source"], refusal))
            left.append(outcome(row["doc_id"], outcomes.FAILED))
        elif known is not None and _same(target, row, known):
            left.append(_unchanged(known))
        else:
            changed.append(position)
    return Compared(
        documents.take(pa.array(changed, pa.int64())),
        outcomes.OUTCOMES.from_rows(left),
        NOTICES.from_rows(notices),
    )


def _digest_of_source(corpus: str) -> Callable[[Indexed], str | None]:
    """What the file of a held document is now; ``None`` when it is gone."""
    digest = file_digests(current_workspace().catalog)

    def now(known: Indexed) -> str | None:
        return digest(corpus, {"source_name": known.source_name, "source": known.source})

    return now


def _unchanged(known: Indexed) -> dict[str, Any]:
    name = outcomes.UNCHANGED if known.state == INDEXED else outcomes.EMPTY
    return outcome(known.doc_id, name, unchanged=known.chunk_count)


def _same(target: Target, row: dict[str, Any], known: Indexed) -> bool:
    if known.state == FAILED or row["doc_id"] in target.dirty:
        return False
    wanted = fingerprint_of(target.recipe, row["text_digest"], record_of(row))
    return known.fingerprint == wanted


def _refusal(
    row: dict[str, Any], known: Indexed | None, digest: Callable[[Indexed], str | None]
) -> IdentityConflict | None:
    """Why the document's id is taken: by another scope, or by another file that is still there."""
    if known is None or not known.version:
        return None
    if known.kb_scope != row["kb_scope"]:
        return IdentityConflict(
            f"Document id {known.doc_id!r} is in scope {known.kb_scope!r} ({known.source!r}) and"
            f" cannot be in scope {row['kb_scope']!r} ({row['source']!r}) too."
        )
    if known.source != row["source"] and digest(known) is not None:
        return IdentityConflict(
            f"{known.source!r} and {row['source']!r} both give document id {known.doc_id!r}."
        )
    return None
