"""Metrics of real lookups, as Prometheus reads them."""

import asyncio
import logging
import math
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from pincite.catalog.activity import LookupLine, Returned
from pincite.catalog.lookup_lines import StageTime
from pincite.errors import StoreUnreachable
from pincite.retrieval.hot import HotQueries
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.serving.metric_labels import OTHER, STAGES
from pincite.serving.metrics import BUCKETS, LookupMetrics, metrics_page
from pincite.testing.faults import hanging, put, raising
from pincite.testing.homes import Home
from pincite.testing.lookups import fruit_corpus, look, parts_of
from pincite.testing.memory_items import OWNER, item
from pincite.testing.small_corpus import SmallCorpus
from pincite.wiring import Workspace

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]

# Every metric with the labels it may have; those of a bucket besides.
LABELS = {
    "pincite_lookups": {"corpus", "evidence_status"},
    "pincite_lookup_hits": {"corpus"},
    "pincite_lookup_failures": {"corpus", "code"},
    "pincite_lookup_latency_seconds": {"corpus"},
    "pincite_stage_latency_seconds": {"corpus", "stage"},
    "pincite_degradations": {"corpus", "code"},
    "pincite_cache_answers": {"corpus"},
    "pincite_legacy_answers": {"corpus"},
    "pincite_query_vector_cache": {"outcome"},
    "pincite_items": {"corpus", "state"},
    "pincite_documents": {"corpus", "state"},
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCorpus]:
    with fruit_corpus(tmp_path_factory.mktemp("metrics")) as made:
        yield made


@pytest.fixture
def metrics(corpus: SmallCorpus) -> LookupMetrics:
    return LookupMetrics(corpus.catalog, HotQueries())


def series(metrics: LookupMetrics) -> Series:
    """Every sample of the page by name and labels."""
    body, content_type = metrics_page(metrics)
    assert content_type.startswith("text/plain; version=0.0.4")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }


def value(metrics: LookupMetrics, name: str, **labels: str) -> float | None:
    return series(metrics).get((name, frozenset(labels.items())))


def labelled(metrics: LookupMetrics, name: str, label: str) -> set[str]:
    """The values that a label of a metric has."""
    return {dict(labels)[label] for found, labels in series(metrics) if found == name}


def line(**more: Any) -> LookupLine:
    return replace(LookupLine("t", "docs", 10, "SUFFICIENT", 1, "", ()), **more)


def test_names_labels_and_types_are_these(metrics: LookupMetrics) -> None:
    metrics.answered(line(degradations=("l0_empty",), stages=(StageTime("docs", "search", 1),)))
    metrics.failed("docs", "STORE_UNREACHABLE", 3)
    families = list(text_string_to_metric_families(metrics_page(metrics)[0].decode()))
    found: dict[str, set[str]] = {}
    for family in families:
        name = re.sub("_created$", "", family.name)
        labels = {label for sample in family.samples for label in sample.labels}
        found.setdefault(name, set()).update(labels - {"le"})
    assert found == LABELS
    types = {family.name: family.type for family in families if family.name in LABELS}
    assert {name for name, kind in types.items() if kind == "histogram"} == {
        "pincite_lookup_latency_seconds",
        "pincite_stage_latency_seconds",
    }
    assert types["pincite_lookups"] == "counter"
    assert types["pincite_items"] == types["pincite_documents"] == "gauge"
    assert all(family.documentation for family in families if family.name in LABELS)


def test_counters_that_are_rated_begin_at_zero(metrics: LookupMetrics) -> None:
    for name in ("docs", "memory", "web"):
        assert value(metrics, "pincite_lookup_hits_total", corpus=name) == 0
        assert value(metrics, "pincite_lookups_total", corpus=name, evidence_status="NONE") == 0


def test_real_lookups_are_counted(corpus: SmallCorpus) -> None:
    hot = HotQueries(vectors=10, results=10)
    metrics = LookupMetrics(corpus.catalog, hot)
    parts = parts_of(corpus, observer=metrics, hot=hot)
    results = [look(parts, query) for query in ("red apples", "red apples", "green pears")]
    results.append(look(parts, "red apples", kb_scope="nobody"))
    found = series(metrics)
    of_docs = frozenset({("corpus", "docs")})
    assert found["pincite_lookup_hits_total", of_docs] == 3
    assert found["pincite_cache_answers_total", of_docs] == 1
    assert found["pincite_lookup_latency_seconds_count", of_docs] == 4
    spent = sum(result.trace.latency_ms for result in results) / 1000
    assert found["pincite_lookup_latency_seconds_sum", of_docs] == pytest.approx(spent)
    for status in ("SUFFICIENT", "WEAK", "NONE"):
        labels = of_docs | {("evidence_status", status)}
        wanted = sum(result.evidence_status == status for result in results)
        assert found["pincite_lookups_total", labels] == wanted
    search = of_docs | {("stage", "search")}
    assert found["pincite_stage_latency_seconds_count", search] == 3
    counts = hot.counts()
    hits = frozenset({("outcome", "hit")})
    assert found["pincite_query_vector_cache_total", hits] == counts["vectors_hits"] == 1
    assert labelled(metrics, "pincite_stage_latency_seconds_count", "stage") <= set(STAGES)


def test_a_lookup_that_fails_counts_by_its_code(
    corpus: SmallCorpus, metrics: LookupMetrics
) -> None:
    gone = put(corpus.store, "search", raising(StoreUnreachable("Gone.")))
    with pytest.raises(StoreUnreachable):
        look(parts_of(corpus, store=gone, observer=metrics), "apples")
    labels = {"corpus": "docs", "code": "STORE_UNREACHABLE"}
    assert value(metrics, "pincite_lookup_failures_total", **labels) == 1
    assert value(metrics, "pincite_lookup_latency_seconds_count", corpus="docs") is None


def test_several_corpora_and_both_paths_count_each(tmp_path: Path) -> None:
    home = Home(tmp_path, **{"memory.rag.rollout": "off"})
    (tmp_path / "water.md").write_text("Water boils at 100 degrees.\n", "utf-8")
    home.ingest(tmp_path / "water.md")
    home.write("memory", item("tea without sugar"))

    async def ask(workspace: Workspace) -> tuple[LookupResult, Series]:
        metrics = LookupMetrics(workspace.catalog, HotQueries())
        parts = replace(workspace.lookup_parts, observer=metrics)
        request = request_from_settings(workspace.settings, "tea", corpus="docs,memory", **OWNER)
        return await lookup_direct(request, parts), await asyncio.to_thread(series, metrics)

    result, found = home.run(ask)
    hits = {block.candidate.corpus for block in result.blocks}
    for name in ("docs", "memory"):
        here = frozenset({("corpus", name)})
        assert found["pincite_lookup_hits_total", here] == (name in hits)
        assert found["pincite_legacy_answers_total", here] == (name == "memory")
        assert found["pincite_lookup_latency_seconds_count", here] == 1
        assert found["pincite_stage_latency_seconds_count", here | {("stage", "pack")}] == 1
    indexed = frozenset({("corpus", "memory"), ("state", "INDEXED")})
    pending = frozenset({("corpus", "memory"), ("state", "PENDING")})
    assert (found["pincite_items", indexed], found["pincite_items", pending]) == (1, 0)
    documents = frozenset({("corpus", "docs"), ("state", "INDEXED")})
    assert found["pincite_documents", documents] == 1
    assert "web" not in {dict(labels)["corpus"] for name, labels in found
                         if name == "pincite_documents"}  # fmt: skip


HOSTILE = st.text(st.characters(codec="utf-8"), max_size=40).map(lambda text: f"h0stile{text}")


@given(st.data())
def test_nothing_of_a_line_but_known_words_is_on_the_page(
    corpus: SmallCorpus, data: st.DataObject
) -> None:
    text = data.draw(HOSTILE)
    metrics = LookupMetrics(corpus.catalog, HotQueries())
    hostile = LookupLine(
        trace_id=text,
        corpus=text,
        latency_ms=5,
        evidence_status=text,
        hit_count=1,
        fallback_reason=text,
        degradations=(text, f"{text}2"),
        kb_scope=text,
        query=text,
        selected_attempt=text,
        blocks=(Returned(text, text, 1, text, 0.5, (text,)),),
        stages=tuple(StageTime(name, text, 1) for name in (text, *text.split(","))),
        connection=text,
    )
    metrics.answered(hostile)
    metrics.failed(text, text, 5)
    page = metrics_page(metrics)[0].decode()
    assert "h0stile" not in page
    labels = {label for name, found in series(metrics) for label in found if name != "le"}
    assert {one for name, one in labels if name == "corpus"} == {"docs", "memory", "web", OTHER}
    assert ("code", OTHER) in labels


def test_no_query_or_owner_of_a_real_lookup_is_on_the_page(tmp_path: Path) -> None:
    home = Home(tmp_path)
    secret = 's3cret"} 1\n# HELP '
    owner = {name: f"{name}-{secret}" for name in OWNER}
    home.write("memory", {**item(f"likes {secret}"), **owner})

    async def ask(workspace: Workspace) -> bytes:
        metrics = LookupMetrics(workspace.catalog, HotQueries())
        parts = replace(workspace.lookup_parts, observer=metrics)
        options = {"corpus": "memory", "connection": secret, "trace_id": "s3cret", **owner}
        request = request_from_settings(workspace.settings, f"likes {secret}", **options)
        assert (await lookup_direct(request, parts)).blocks
        return (await asyncio.to_thread(metrics_page, metrics))[0]

    assert b"s3cret" not in home.run(ask)


@given(st.integers(0, 20_000))
def test_a_latency_is_in_every_bucket_from_its_own(corpus: SmallCorpus, latency_ms: int) -> None:
    metrics = LookupMetrics(corpus.catalog, HotQueries())
    metrics.answered(line(latency_ms=latency_ms))
    buckets = {
        float(dict(labels)["le"]): found
        for (name, labels), found in series(metrics).items()
        if name == "pincite_lookup_latency_seconds_bucket"
    }
    assert sorted(buckets) == [*BUCKETS, math.inf]
    assert buckets == {bound: float(latency_ms / 1000 <= bound) for bound in buckets}


def test_a_line_that_makes_no_sense_is_not_counted_and_raises_nothing(
    metrics: LookupMetrics, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="pincite"):
        metrics.answered(line(latency_ms="s3cret"))
        metrics.failed(None, "X", 1)  # type: ignore[arg-type]
    assert [record.getMessage() for record in caplog.records] == [
        "lookup not counted: TypeError",
        "lookup not counted: AttributeError",
    ]
    counted = value(metrics, "pincite_lookup_hits_total", corpus="docs")
    metrics.answered(line())
    assert value(metrics, "pincite_lookup_hits_total", corpus="docs") == (counted or 0) + 1


def test_threads_lose_no_lookup(metrics: LookupMetrics) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: metrics.answered(line()), range(800)))
    assert value(metrics, "pincite_lookup_hits_total", corpus="docs") == 800


def test_catalogue_that_hangs_costs_a_page_a_second_and_one_thread(
    corpus: SmallCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pincite.serving.catalog_gauges.PATIENCE_S", 0.05)
    fault = hanging()
    calls: list[Any] = []
    catalog = put(corpus.catalog, "generations.live", fault, lambda *a: not calls.append(a))
    metrics = LookupMetrics(catalog, HotQueries())
    for _ in range(3):
        metrics.answered(line())
        assert not labelled(metrics, "pincite_items", "state")
    assert value(metrics, "pincite_lookup_hits_total", corpus="docs") == 3
    assert len(calls) == 1
    fault.release()
