"""What happened on the way to an answer, kept while it happens."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pincite.retrieval.candidates import Candidate
from pincite.retrieval.postprocess import Dropped, Kept


@dataclass(frozen=True)
class Degradation:
    """Something that the answer had to do without; ``code`` is stable."""

    stage: str
    code: str
    message: str

    def as_dict(self) -> dict[str, Any]:
        return {"stage": self.stage, "code": self.code, "message": self.message}


@dataclass(frozen=True)
class Attempt:
    """One pass of search. ``filter`` is readable text, ``""`` = none; latency in ms.

    ``outcome``: ``evidence``, ``low_quality``, ``no_evidence`` or ``failed``.
    """

    name: str
    mode: str
    filter: str
    hit_count: int
    top_score: float | None
    latency_ms: int
    outcome: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "mode": self.mode,
            "filter": self.filter,
            "hitCount": self.hit_count,
            "topScore": self.top_score,
            "latencyMs": self.latency_ms,
            "outcome": self.outcome,
        }


@dataclass(frozen=True)
class Stage:
    """How many went into a stage and how many came out; latency in ms."""

    name: str
    entered: int
    left: int
    latency_ms: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "in": self.entered,
            "out": self.left,
            "latencyMs": self.latency_ms,
        }


class Stopwatch:
    """Time since it was made, on a clock that never goes back."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    @property
    def ms(self) -> int:
        return round(self.seconds * 1000)


class Deadline:
    """A point in time that every client call of one retrieval gets as its own timeout."""

    def __init__(self, timeout_ms: int) -> None:
        self.timeout_ms = timeout_ms
        self._watch = Stopwatch()

    def left_s(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.timeout_ms / 1000 - self._watch.seconds)


@dataclass
class Trace:
    """Collects the trace of one lookup."""

    trace_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    selected_attempt: str | None = None
    fallback_reason: str | None = None
    degradations: list[Degradation] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    watch: Stopwatch = field(default_factory=Stopwatch)

    def degrade(self, stage: str, code: str, message: str) -> None:
        self.degradations.append(Degradation(stage, code, message))

    def stage(self, name: str, entered: int, left: int, latency_ms: int = 0) -> None:
        self.stages.append(Stage(name, entered, left, latency_ms))

    def apply(
        self,
        name: str,
        rule: Callable[[Sequence[Candidate]], Kept],
        candidates: Sequence[Candidate],
    ) -> tuple[Candidate, ...]:
        """Run one rule and write down what it did."""
        watch = Stopwatch()
        kept = rule(candidates)
        self.stage(name, len(candidates), len(kept.candidates), watch.ms)
        self.dropped += kept.dropped
        return kept.candidates

    def as_dict(self) -> dict[str, Any]:
        return {
            "selectedAttempt": self.selected_attempt,
            "fallbackReason": self.fallback_reason,
            "degradations": [one.as_dict() for one in self.degradations],
            "attempts": [one.as_dict() for one in self.attempts],
            "stages": [one.as_dict() for one in self.stages],
            "dropped": [
                {
                    "evidenceKey": one.evidence_key,
                    "corpus": one.corpus,
                    "reason": one.reason,
                    "score": one.score,
                }
                for one in self.dropped
            ],
        }
