"""What figures need of the lookup log, read in one go: a fraction of the time of whole lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import case, select

from pincite.catalog.activity import KEPT_LOOKUPS
from pincite.catalog.lookup_lines import LookupLine, StageTime
from pincite.catalog.tables import lookups

if TYPE_CHECKING:
    from pincite.catalog.database import Database


class LookupFacts(NamedTuple):
    """One answered lookup without what it was about.

    ``corpora`` are those that were asked, ``hits`` those of them that a returned block is from.
    ``created_at`` is epoch ms; the rest is as in ``LookupLine``. Each of the degradations is the
    corpora that it was in, with commas between, and its code. An answer that was at hand has no
    stages: they took no time.
    """

    corpora: tuple[str, ...]
    hits: frozenset[str]
    created_at: int
    latency_ms: int
    evidence_status: str
    degradations: Sequence[tuple[str, str]]
    legacy: Collection[str]
    stages: Sequence[StageTime]
    cached: bool


def facts_of_line(line: LookupLine) -> LookupFacts:
    """The facts of a line that is at hand."""
    corpora = tuple(line.corpus.split(","))
    return LookupFacts(
        corpora,
        _hits(corpora, line.hit_count, [block.corpus for block in line.blocks]),
        line.created_at,
        line.latency_ms,
        line.evidence_status,
        _placed(line.corpus, line.degradations, line.degraded_in),
        _legacy(line.corpus, line.selected_attempt, line.legacy),
        () if line.cached else line.stages,
        line.cached,
    )


# What a line calls the attempt of the legacy path.
_LEGACY = "LEGACY"
_BLOCKS = "blocks_of_several"
# Only where several corpora were asked do the blocks say more than their number.
_SEVERAL = case((lookups.c.corpus.contains(","), lookups.c.blocks), else_=None).label(_BLOCKS)
_COLUMNS = [
    lookups.c[name]
    for name in (
        "corpus",
        "created_at",
        "latency_ms",
        "evidence_status",
        "hit_count",
        "degradations",
        "selected_attempt",
        "stages",
        "cached",
        "degraded_in",
        "legacy",
    )
]


def lookup_facts(
    database: Database, corpora: Collection[str] | None = None, since: int = 0
) -> Iterator[LookupFacts]:
    """The facts of the kept lookups, newest first; read at once, taken apart one by one.

    Args:
        database: Where the log is.
        corpora: Only lookups that asked one of these, alone or among others; ``None``: all.
        since: Only lookups from this time on, epoch ms.

    Raises:
        CatalogUnreachable: The database does not answer.
    """
    query = (
        select(*_COLUMNS, _SEVERAL)
        .where(lookups.c.created_at >= since)
        .order_by(lookups.c.id.desc())
        .limit(KEPT_LOOKUPS)
    )
    with database.read() as connection:
        rows = connection.execute(query).all()
    asked = ((row, tuple(row.corpus.split(","))) for row in rows)
    wanted = None if corpora is None else frozenset(corpora)
    return (
        _facts(row, names) for row, names in asked if wanted is None or not wanted.isdisjoint(names)
    )


def _facts(row: Any, corpora: tuple[str, ...]) -> LookupFacts:
    """What is NULL was not known when the line was written."""
    blocks = json.loads(getattr(row, _BLOCKS) or "[]")
    return LookupFacts(
        corpora,
        _hits(corpora, row.hit_count, [block["corpus"] for block in blocks]),
        row.created_at,
        row.latency_ms,
        row.evidence_status,
        _placed(row.corpus, json.loads(row.degradations), json.loads(row.degraded_in or "[]")),
        _legacy(row.corpus, row.selected_attempt, json.loads(row.legacy or "[]")),
        # Two hundred thousand triples are as good as they are.
        () if row.cached else json.loads(row.stages or "[]"),
        bool(row.cached),
    )


def _hits(corpora: tuple[str, ...], hit_count: int, found: list[str]) -> frozenset[str]:
    """The corpora with a hit; a line that does not say from which had one in each."""
    if not hit_count:
        return frozenset()
    return frozenset(found if found and len(corpora) > 1 else corpora)


def _placed(asked: str, codes: Sequence[str], places: Sequence[str]) -> list[tuple[str, str]]:
    """Each code with its corpora; an older line does not say, and it was one of all of them."""
    known = places if len(places) == len(codes) else [asked] * len(codes)
    return list(zip(known, codes, strict=True))


def _legacy(asked: str, selected: str | None, corpora: Collection[str]) -> Collection[str]:
    """An older line has no list and was of one corpus; no name of a path means the core's."""
    return corpora or ((asked,) if selected == _LEGACY else ())
