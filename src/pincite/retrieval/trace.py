"""What happened on the way to an answer, kept while it happens."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from pincite.retrieval.postprocess import Kept


@dataclass(frozen=True)
class Degradation:
    """Something that the answer had to do without; ``code`` is stable."""

    stage: str
    corpus: str
    code: str
    message: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "corpus": self.corpus,
            "code": self.code,
            "message": self.message,
        }


@dataclass(frozen=True)
class Attempt:
    """One pass of search. ``filter`` is readable text, ``""`` = none; latency in ms.

    ``outcome``: ``evidence``, ``low_quality``, ``no_evidence`` or ``failed``.
    """

    name: str
    corpus: str
    mode: str
    filter: str
    hit_count: int
    top_score: float | None
    latency_ms: int
    outcome: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "corpus": self.corpus,
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
    corpus: str
    entered: int
    left: int
    latency_ms: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "corpus": self.corpus,
            "in": self.entered,
            "out": self.left,
            "latencyMs": self.latency_ms,
        }


@dataclass(frozen=True)
class Dropped:
    """A candidate that fell out: at which stage, and why."""

    stage: str
    evidence_key: str
    corpus: str
    source: str
    reason: str
    score: float | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "evidenceKey": self.evidence_key,
            "corpus": self.corpus,
            "source": self.source,
            "stage": self.stage,
            "reason": self.reason,
            "score": self.score,
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


class Trace:
    """Collects what happens on the way, in one corpus or over several (``corpus`` = all names).

    ``latency_ms`` is that of the whole lookup, 0 until it has answered.
    """

    def __init__(self, corpus: str) -> None:
        self.corpus = corpus
        self.selected_attempt: str | None = None
        self.fallback_reason: str | None = None
        self.degradations: list[Degradation] = []
        self.attempts: list[Attempt] = []
        self.stages: list[Stage] = []
        self.dropped: list[Dropped] = []
        self.latency_ms = 0

    def degrade(self, stage: str, code: str, message: str) -> None:
        """Write down what the answer does without; the same thing once."""
        one = Degradation(stage, self.corpus, code, message)
        if (stage, code) not in {(known.stage, known.code) for known in self.degradations}:
            self.degradations.append(one)

    def stage(self, name: str, entered: int, left: int, latency_ms: int = 0) -> None:
        self.stages.append(Stage(name, self.corpus, entered, left, latency_ms))

    async def apply(
        self, name: str, rule: Callable[[pa.Table], Awaitable[Kept]], candidates: pa.Table
    ) -> pa.Table:
        """Run one rule and write down what it did."""
        watch = Stopwatch()
        kept = await rule(candidates)
        self.stage(name, len(candidates), len(kept.candidates), watch.ms)
        self.drop(name, kept.dropped)
        return kept.candidates

    def drop(self, stage: str, candidates: pa.Table) -> None:
        """Write down what fell out at a stage (``schemas.dropped``)."""
        self.dropped += [Dropped(stage=stage, **row) for row in candidates.to_pylist()]

    def add(self, other: Trace) -> None:
        """Take over what happened in one of several corpora."""
        self.selected_attempt = self.selected_attempt or other.selected_attempt
        self.fallback_reason = self.fallback_reason or other.fallback_reason
        self.degradations += other.degradations
        self.attempts += other.attempts
        self.stages += other.stages
        self.dropped += other.dropped

    def without_latencies(self) -> Trace:
        """The same trace of an answer that was at hand: nothing took any time."""
        trace = copy(self)
        trace.degradations = list(self.degradations)
        trace.dropped = list(self.dropped)
        trace.attempts = [replace(one, latency_ms=0) for one in self.attempts]
        trace.stages = [replace(one, latency_ms=0) for one in self.stages]
        trace.latency_ms = 0
        return trace

    def as_dict(self) -> dict[str, Any]:
        return {
            "selectedAttempt": self.selected_attempt,
            "fallbackReason": self.fallback_reason,
            "degradations": [one.as_dict() for one in self.degradations],
            "attempts": [one.as_dict() for one in self.attempts],
            "stages": [one.as_dict() for one in self.stages],
            "dropped": [one.as_dict() for one in self.dropped],
            "latencyMs": self.latency_ms,
        }
