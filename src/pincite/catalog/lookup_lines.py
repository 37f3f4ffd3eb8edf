"""Lines of the lookup log as values and as rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import RowMapping


@dataclass(frozen=True)
class Returned:
    """A block that a lookup returned; key and digest name its text for good."""

    evidence_key: str
    corpus: str
    generation: int | None
    content_sha256: str
    score: float | None
    hit_reasons: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON object that is stored."""
        return {
            "evidenceKey": self.evidence_key,
            "corpus": self.corpus,
            "generation": self.generation,
            "contentSha256": self.content_sha256,
            "score": self.score,
            "hitReasons": list(self.hit_reasons),
        }


class StageTime(NamedTuple):
    """How long a stage took in one corpus; several names where it was for all of them."""

    corpus: str
    stage: str
    latency_ms: int


@dataclass(frozen=True)
class LookupLine:
    """One answered lookup.

    ``corpus`` holds several names with a comma between when several were asked; ``generation``
    is ``None`` then, as where nothing was ingested. ``query`` is ``None`` unless a setting lets
    it be kept. ``created_at`` (epoch ms) is given by the catalogue. Codes are ``""`` where
    nothing happened, and in lines that an older version wrote. ``connection`` names who asked,
    ``""`` = nobody in particular; a ``cached`` answer was at hand and took no stage.
    ``degraded_in`` has for each degradation the corpora that it was in, ``legacy`` those that the
    legacy path answered for; older lines do not say.
    """

    trace_id: str
    corpus: str
    latency_ms: int
    evidence_status: str
    hit_count: int
    fallback_reason: str
    degradations: tuple[str, ...]
    kb_scope: str = ""
    generation: int | None = None
    mode: str = ""
    selected_attempt: str = ""
    reranker: str = ""
    reranker_applied: bool = False
    rerank_reason: str = ""
    query_sha256: str = ""
    query: str | None = None
    blocks: tuple[Returned, ...] = ()
    stages: tuple[StageTime, ...] = ()
    cached: bool = False
    connection: str = ""
    degraded_in: tuple[str, ...] = ()
    legacy: tuple[str, ...] = ()
    created_at: int = 0


def row_of_line(line: LookupLine) -> dict[str, Any]:
    """The row of ``lookups`` without its id."""
    blocks = [block.as_dict() for block in line.blocks]
    return {
        **vars(line),
        # PostgreSQL takes no NUL in a text.
        "query": None if line.query is None else line.query.replace("\0", "\ufffd"),
        "degradations": json.dumps(line.degradations, ensure_ascii=False),
        "blocks": json.dumps(blocks, ensure_ascii=False),
        "stages": json.dumps(line.stages, ensure_ascii=False),
        "degraded_in": json.dumps(line.degraded_in, ensure_ascii=False),
        "legacy": json.dumps(line.legacy, ensure_ascii=False),
    }


def line_of_row(row: RowMapping) -> LookupLine:
    """The line of a row; what is NULL was not known when it was written."""
    values = {str(name): value for name, value in row.items() if value is not None}
    del values["id"]
    values["degradations"] = tuple(json.loads(values["degradations"]))
    for name in ("degraded_in", "legacy"):
        values[name] = tuple(json.loads(values.get(name, "[]")))
    values["stages"] = tuple(StageTime(*one) for one in json.loads(values.get("stages", "[]")))
    values["blocks"] = tuple(_returned(block) for block in json.loads(values.get("blocks", "[]")))
    return LookupLine(**values)


def _returned(block: Mapping[str, Any]) -> Returned:
    return Returned(
        block["evidenceKey"],
        block["corpus"],
        block["generation"],
        block["contentSha256"],
        block["score"],
        tuple(block["hitReasons"]),
    )
