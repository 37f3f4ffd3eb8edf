"""How the core's answers differ from those of the legacy path, where both ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pincite.catalog.catalog import Catalog
from pincite.catalog.shadows import ShadowLine
from pincite.figures.figures import iso
from pincite.percentiles import Spread, spread_of


@dataclass(frozen=True)
class ShadowFigures:
    """Lookups of one corpus that ran on both paths; times are epoch ms as in ``Figures``.

    ``n`` is how many of each answer were compared, ``None`` where it was not always the same.
    ``overlap`` in [0, 1] is a mean over ``compared`` lookups, ``correlation`` in [-1, 1] one over
    ``correlated``, which have two blocks or more in common; ``None`` of none. ``errors`` counts
    lookups in which the core failed, by code. Latencies are those of all lookups.
    """

    corpus: str
    since: int
    first_at: int | None
    last_at: int | None
    lookups: int
    n: int | None
    compared: int
    overlap: float | None
    correlated: int
    correlation: float | None
    failed: int
    errors: Mapping[str, int]
    legacy: Spread
    core: Spread

    def share(self, number: int) -> float | None:
        """A number of lookups as a share of all of them, in [0, 1]; ``None`` of none."""
        return number / self.lookups if self.lookups else None

    def as_dict(self) -> dict[str, Any]:
        """The JSON object; shares in [0, 1], latencies in ms, times ISO 8601 in UTC."""
        return {
            "from": iso(self.first_at),
            "to": iso(self.last_at),
            "count": self.lookups,
            "n": self.n,
            "compared": self.compared,
            "overlap": self.overlap,
            "correlated": self.correlated,
            "rank_correlation": self.correlation,
            "failed": self.failed,
            "failed_rate": self.share(self.failed),
            "errors": dict(self.errors),
            "error_rates": {code: self.share(n) for code, n in self.errors.items()},
            "latency_ms": {"legacy": self.legacy.as_dict(), "core": self.core.as_dict()},
        }


def shadow_of(catalog: Catalog, corpus: str, since: int = 0) -> ShadowFigures:
    """The shadow difference over the kept lines of a corpus, from ``since`` (epoch ms) on.

    Raises:
        CatalogUnreachable: The database does not answer.
    """
    return shadow_from(corpus, catalog.shadows.lines(corpus, since), since)


def shadow_from(corpus: str, lines: Sequence[ShadowLine], since: int) -> ShadowFigures:
    """The difference over these lines of the corpus."""
    times = [line.created_at for line in lines]
    overlaps = [line.overlap for line in lines if line.overlap is not None]
    correlations = [line.correlation for line in lines if line.correlation is not None]
    errors = Counter(line.error_code for line in lines if line.error_code)
    widths = {line.n for line in lines}
    return ShadowFigures(
        corpus=corpus,
        since=since,
        first_at=min(times, default=None),
        last_at=max(times, default=None),
        lookups=len(lines),
        n=widths.pop() if len(widths) == 1 else None,
        compared=len(overlaps),
        overlap=_mean(overlaps),
        correlated=len(correlations),
        correlation=_mean(correlations),
        failed=errors.total(),
        errors=dict(sorted(errors.items())),
        legacy=spread_of(line.legacy_ms for line in lines),
        core=spread_of(line.core_ms for line in lines),
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
