"""The shape of a report, checked once, so that whatever reads it may trust it.

Keys that a later version adds are ignored; ``observed`` may be missing, because it is not compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from pincite.errors import ReportInvalid
from pincite.evaluation.measures import standard
from pincite.evaluation.verdict import Hit

SHOWN_FAULTS = 5

# A name in JSON, where strict types know no enumeration.
HitName = Annotated[Hit, Field(strict=False)]
Count = Annotated[int, Field(ge=0)]
Rank = Annotated[int, Field(ge=1)]
Status = Literal["SUFFICIENT", "WEAK", "NONE"]


class _Part(BaseModel):
    """A part of the document; keys in camelCase, no value made into another type."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="ignore", strict=True, frozen=True, allow_inf_nan=False
    )


class FailureShape(_Part):
    """An assertion that does not hold."""

    assertion: str
    stage: str
    message: str
    reason: str


class Expected(_Part):
    """An expected source or evidence key and where it ended; ``rank`` from 1."""

    name: str
    rank: Rank | None
    stage: str
    reason: str


class Returned(_Part):
    """A block of the answer."""

    evidence_key: str
    corpus: str
    source: str


class AttemptShape(_Part):
    """One pass of search."""

    name: str
    outcome: str


class PathShape(_Part):
    """The way that the lookup took; ``dropped`` counts by stage."""

    selected_attempt: str | None
    fallback_reason: str | None
    evidence_status: Status
    attempts: list[AttemptShape]
    degradations: list[str]
    rerank_applied: bool
    dropped: dict[str, Count]


class CaseShape(_Part):
    """A judged case; ``returned`` best first, ``measures`` ``None`` where nothing is ranked."""

    id: str
    query: str
    corpus: str
    kb_scope: str
    tags: list[str]
    passed: bool
    hit: HitName
    rank: Rank | None
    failures: list[FailureShape]
    expected: list[Expected]
    returned: list[Returned]
    path: PathShape
    measures: dict[str, float] | None

    @model_validator(mode="after")
    def _says_why(self) -> CaseShape:
        if self.passed == bool(self.failures):
            raise ValueError("a case fails by its failures, and by nothing else")
        return self


class Mean(_Part):
    """A mean over ``valid`` cases ``of`` all of the group; ``None`` over none."""

    value: float | None
    valid: Count
    of: Count

    @model_validator(mode="after")
    def _is_a_mean(self) -> Mean:
        if (self.value is None) != (self.valid == 0) or self.valid > self.of:
            raise ValueError("value, valid and of do not agree")
        return self


class Group(_Part):
    """Figures of all cases, of a corpus or of a tag."""

    name: str
    cases: Count
    passed: Count
    hits: dict[HitName, Count]
    evidence: dict[Status, Count]
    fallbacks: Count
    degraded: Count
    measures: dict[str, Mean]


class Observed(_Part):
    """What another run has otherwise; latencies in ms, by the id of the case."""

    created_at: str
    pincite: str
    origin: str
    latency_ms: dict[str, Count]
    evidence_score: dict[str, float | None]
    stage_latency_ms: dict[str, dict[str, Count]]


class ReportShape(_Part):
    """A report; the first group is that of all cases."""

    kind: str
    version: int
    k: Rank
    ok: bool
    groups: list[Group] = Field(min_length=1)
    cases: list[CaseShape]
    observed: Observed | None = None

    @model_validator(mode="after")
    def _names_each_once(self) -> ReportShape:
        _require_unique("case", (case.id for case in self.cases))
        _require_unique("group", (group.name for group in self.groups))
        return self

    @model_validator(mode="after")
    def _measures_at_k(self) -> ReportShape:
        wanted = set(standard(self.k))
        measured = [set(case.measures) for case in self.cases if case.measures is not None]
        for names in (*(set(group.measures) for group in self.groups), *measured):
            if names != wanted:
                raise ValueError(f"{min(names ^ wanted)!r} is not measured everywhere alike")
        return self

    @property
    def failed(self) -> list[CaseShape]:
        """The cases that failed, in their order."""
        return [case for case in self.cases if not case.passed]


def read_shape(document: Mapping[str, Any], where: str) -> ReportShape:
    """The report as values.

    Args:
        document: A report as its JSON document, with or without ``observed``.
        where: What it is, for the error.

    Raises:
        ReportInvalid: Parts are missing or of another type; the message names them.
    """
    _require_text(document, where)
    try:
        return ReportShape.model_validate(document)
    except ValidationError as exc:
        raise ReportInvalid(f"{where} has not the shape of a report: {_faults(exc)}.") from exc


def _require_text(document: Mapping[str, Any], where: str) -> None:
    """Half a character could be compared, but not written."""
    try:
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as exc:
        raise ReportInvalid(f"{where} holds text that is no Unicode: half a character.") from exc


def _require_unique(what: str, names: Iterable[str]) -> None:
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        raise ValueError(f"two {what}s have the name {twice[0]!r}")


def _faults(exc: ValidationError) -> str:
    """What is wrong, each once, the first ones by name."""
    faults = exc.errors(include_url=False, include_input=False)
    named = list(dict.fromkeys(_fault(one["type"], one["loc"], one["msg"]) for one in faults))
    more = len(named) - SHOWN_FAULTS
    return "; ".join(named[:SHOWN_FAULTS]) + (f"; and {more} more" if more > 0 else "")


def _fault(kind: str, loc: tuple[int | str, ...], message: str) -> str:
    path = ".".join(str(part) for part in loc)
    if kind == "missing":
        return f"{path!r} is missing"
    message = message.removeprefix("Value error, ")
    return f"{path!r}: {message[:1].lower()}{message[1:]}" if path else message
