"""Metrics of the lookups of this process, for Prometheus."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import product

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import generate_latest

from pincite.catalog.catalog import Catalog
from pincite.catalog.lookup_facts import facts_of_line
from pincite.catalog.lookup_lines import LookupLine
from pincite.figures.asked import Asked, each_asked
from pincite.retrieval.hot import HotQueries
from pincite.serving.catalog_gauges import CatalogGauges
from pincite.serving.metric_labels import (
    CORPORA,
    DEGRADATIONS,
    EVIDENCE,
    FAILURES,
    STAGES,
    known,
)

logger = logging.getLogger(__name__)

# Seconds: 1 ms to 10 s.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class LookupMetrics:
    """Counts every lookup of a process in a registry of its own; an ``Observer``.

    A lookup over several corpora counts in each of them. Safe for several threads.

    Args:
        catalog: What holds the items and documents that are shown.
        hot: The caches whose hits are shown.
    """

    def __init__(self, catalog: Catalog, hot: HotQueries) -> None:
        self.registry = CollectorRegistry()
        self._lookups = self._counter(
            "lookups", "Lookups that were answered.", "corpus", "evidence_status"
        )
        self._hits = self._counter(
            "lookup_hits", "Lookups that returned a passage of the corpus.", "corpus"
        )
        self._failures = self._counter(
            "lookup_failures", "Lookups that were not answered.", "corpus", "code"
        )
        self._latency = self._histogram(
            "lookup_latency_seconds", "Time until a lookup was answered.", "corpus"
        )
        self._stage = self._histogram(
            "stage_latency_seconds", "Time that a lookup spent in a stage.", "corpus", "stage"
        )
        self._degradations = self._counter(
            "degradations", "Answers that had to do without something.", "corpus", "code"
        )
        self._cached = self._counter("cache_answers", "Answers that were at hand.", "corpus")
        self._legacy = self._counter(
            "legacy_answers", "Answers that the legacy path gave.", "corpus"
        )
        self.registry.register(_VectorCache(hot))
        self.registry.register(CatalogGauges(catalog))
        self._begin_at_zero()

    def answered(self, line: LookupLine) -> None:
        """Count an answered lookup."""
        try:
            for asked in each_asked(facts_of_line(line)):
                self._count(asked)
        except Exception as error:
            logger.warning("lookup not counted: %s", type(error).__name__)

    def failed(self, corpus: str, code: str, latency_ms: int) -> None:
        """Count a lookup without an answer; how long that took is not the time of an answer."""
        try:
            for name in corpus.split(","):
                self._failures.labels(known(name, CORPORA), known(code, FAILURES)).inc()
        except Exception as error:
            logger.warning("lookup not counted: %s", type(error).__name__)

    def _count(self, asked: Asked) -> None:
        corpus = known(asked.corpus, CORPORA)
        self._lookups.labels(corpus, known(asked.evidence_status, EVIDENCE)).inc()
        self._hits.labels(corpus).inc(asked.hit)
        self._cached.labels(corpus).inc(asked.cached)
        self._legacy.labels(corpus).inc(asked.by_legacy)
        self._latency.labels(corpus).observe(asked.latency_ms / 1000)
        for stage, latency_ms in asked.stages.items():
            self._stage.labels(corpus, known(stage, STAGES)).observe(latency_ms / 1000)
        for code in asked.degradations:
            self._degradations.labels(corpus, known(code, DEGRADATIONS)).inc()

    def _begin_at_zero(self) -> None:
        """A counter that appears with its first event hides that event from a rate."""
        for corpus, status in product(CORPORA, EVIDENCE):
            self._lookups.labels(corpus, status)
        for counter, corpus in product((self._hits, self._cached, self._legacy), CORPORA):
            counter.labels(corpus)

    def _counter(self, name: str, what: str, *labels: str) -> Counter:
        return Counter(f"pincite_{name}", what, labels, registry=self.registry)

    def _histogram(self, name: str, what: str, *labels: str) -> Histogram:
        return Histogram(f"pincite_{name}", what, labels, buckets=BUCKETS, registry=self.registry)


class _VectorCache:
    """A collector over what the cache of query vectors counts itself."""

    def __init__(self, hot: HotQueries) -> None:
        self._hot = hot

    def collect(self) -> Iterator[CounterMetricFamily]:
        family = CounterMetricFamily(
            "pincite_query_vector_cache", "Query vectors asked of the cache.", labels=("outcome",)
        )
        counts = self._hot.counts()
        for outcome, name in (("hit", "vectors_hits"), ("miss", "vectors_misses")):
            family.add_metric((outcome,), counts[name])
        yield family


def metrics_page(metrics: LookupMetrics) -> tuple[bytes, str]:
    """The page in the text format of Prometheus, and its content type.

    Blocks for a second at most, where the catalogue does not answer: asynchronous callers run it
    in a thread.
    """
    return generate_latest(metrics.registry), CONTENT_TYPE_PLAIN_0_0_4
