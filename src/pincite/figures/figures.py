"""How lookups in one corpus went, as numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pincite.figures.asked import STAGES, Asked
from pincite.percentiles import Spread, spread_of
from pincite.retrieval.evidence import NONE, SUFFICIENT, WEAK

EVIDENCE = (SUFFICIENT, WEAK, NONE)


@dataclass(frozen=True)
class Figures:
    """Lookups that asked a corpus, alone or among others; failed ones leave no line.

    Times are epoch ms: nothing before ``since`` is counted, ``first_at`` and ``last_at`` are the
    first and last lookup that are, ``None`` = none is. ``hits`` counts lookups with a block of the
    corpus, ``degradations`` lookups by code, ``degraded`` those with any. ``stages`` and
    ``degradations`` have what occurred, stages in their order. ``items`` are those of the corpus
    by state now, empty where it has none.
    """

    corpus: str
    since: int
    first_at: int | None
    last_at: int | None
    lookups: int
    hits: int
    evidence: Mapping[str, int]
    latency: Spread
    stages: Mapping[str, Spread]
    degraded: int
    degradations: Mapping[str, int]
    cached: int
    legacy: int
    items: Mapping[str, int]

    def share(self, number: int) -> float | None:
        """A number of lookups as a share of all of them, in [0, 1]; ``None`` of none."""
        return number / self.lookups if self.lookups else None

    @property
    def hit_rate(self) -> float | None:
        """The share of lookups with a block of the corpus."""
        return self.share(self.hits)

    def as_dict(self) -> dict[str, Any]:
        """The JSON object; shares in [0, 1], latencies in ms, times ISO 8601 in UTC."""
        return {
            "corpus": self.corpus,
            "since": iso(self.since) if self.since else None,
            "from": iso(self.first_at),
            "to": iso(self.last_at),
            "count": self.lookups,
            "hits": self.hits,
            "hit_rate": self.hit_rate,
            "evidence": dict(self.evidence),
            "latency_ms": self.latency.as_dict(),
            "stages": {name: one.as_dict() for name, one in self.stages.items()},
            "degraded": self.degraded,
            "degraded_rate": self.share(self.degraded),
            "degradations": dict(self.degradations),
            "degradation_rates": {c: self.share(n) for c, n in self.degradations.items()},
            "cached": self.cached,
            "cached_rate": self.share(self.cached),
            "legacy": self.legacy,
            "legacy_rate": self.share(self.legacy),
            "items": dict(self.items),
        }


def figures_from(
    corpus: str, asked: Sequence[Asked], since: int, items: Mapping[str, int]
) -> Figures:
    """The figures over these lookups of the corpus."""
    times = [one.at for one in asked]
    return Figures(
        corpus=corpus,
        since=since,
        first_at=min(times, default=None),
        last_at=max(times, default=None),
        lookups=len(asked),
        hits=sum(one.hit for one in asked),
        evidence=_evidence(asked),
        latency=spread_of(one.latency_ms for one in asked),
        stages=_stages(asked),
        degraded=sum(bool(one.degradations) for one in asked),
        degradations=_by_code(asked),
        cached=sum(one.cached for one in asked),
        legacy=sum(one.by_legacy for one in asked),
        items=items,
    )


def iso(ms: int | None) -> str | None:
    """A time as ISO 8601 in UTC, to the second."""
    if ms is None:
        return None
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")


def _evidence(asked: Sequence[Asked]) -> dict[str, int]:
    """Every status has its number, also where it never came."""
    return dict.fromkeys(EVIDENCE, 0) | dict(Counter(one.evidence_status for one in asked))


def _by_code(asked: Sequence[Asked]) -> dict[str, int]:
    return dict(sorted(Counter(code for one in asked for code in one.degradations).items()))


def _stages(asked: Sequence[Asked]) -> dict[str, Spread]:
    spent: defaultdict[str, list[int]] = defaultdict(list)
    for one in asked:
        for stage, latency_ms in one.stages.items():
            spent[stage].append(latency_ms)
    return {stage: spread_of(spent[stage]) for stage in sorted(spent, key=_place)}


def _place(stage: str) -> tuple[int, str]:
    """One of another version comes last."""
    return (STAGES.index(stage) if stage in STAGES else len(STAGES), stage)
