"""Check: the identity gate between embedding and the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pyarrow as pa

from pincite.errors import IdentityRejected
from pincite.gate import RULES, Limits, Verdict, judge
from pincite.schemas.notices import NOTICES, failure
from pincite.schemas.quality import QUALITY
from pincite.wiring import MAX_CONTENT_BYTES
from pincite.writing.tables import Checked, without
from pincite.writing.target import Target

Judge = Callable[[pa.Table, Limits], Verdict]


async def check(target: Target, rows: pa.Table) -> Checked:
    """Let the rows through that meet every rule; a document with one bad row is held back whole."""
    return await checked_by(judge, target, rows)


async def checked_by(judged: Judge, target: Target, rows: pa.Table) -> Checked:
    """The same with another judge of the same rules."""
    limits = Limits(target.recipe.dim, MAX_CONTENT_BYTES, target.corpus)
    verdict = await asyncio.to_thread(judged, rows, limits)
    quality = [
        {"rule": rule, "rows": verdict.rows, "failed": len(verdict.broken[rule])} for rule in RULES
    ]
    rejected = _rejected(rows, verdict)
    return Checked(
        without(rows, rejected),
        NOTICES.from_rows(failure(*about) for about in rejected.values()),
        QUALITY.from_rows(quality),
    )


def _rejected(rows: pa.Table, verdict: Verdict) -> dict[str, tuple[str, str, IdentityRejected]]:
    """Per document the first bad row and the rules it breaks."""
    found: dict[str, tuple[str, str, IdentityRejected]] = {}
    for at in sorted(verdict.bad_rows):
        doc_id, source = rows["doc_id"][at].as_py() or "", rows["source"][at].as_py() or ""
        rules = ", ".join(rule for rule, bad in verdict.broken.items() if at in bad)
        key = rows["evidence_key"][at].as_py()
        error = IdentityRejected(f"Row {key!r} breaks {rules}; the document is held back.")
        found.setdefault(doc_id, (doc_id, source, error))
    return found
