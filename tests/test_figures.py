"""Figures per corpus, exactly, from lines that are written by hand."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from pincite.catalog.activity import LookupLine, Returned
from pincite.catalog.catalog import Catalog
from pincite.catalog.lookup_facts import facts_of_line
from pincite.catalog.lookup_lines import StageTime
from pincite.catalog.shadows import ShadowLine
from pincite.catalog.tables import lookups
from pincite.figures import (
    ShadowFigures,
    daily_markdown,
    figures_markdown,
    figures_of,
    shadow_of,
)
from pincite.figures.figures import iso
from pincite.percentiles import Spread, spread_of
from pincite.testing.catalog_suite_values import HandClock

HOUR_MS = 3_600_000
START = 1_800_000_000_000


@pytest.fixture
def clock() -> HandClock:
    clock = HandClock()
    clock.now = START
    return clock


@pytest.fixture
def catalog(tmp_path: Path, clock: HandClock) -> Iterator[Catalog]:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.sqlite'}", clock)
    yield catalog
    catalog.close()


def line(corpus: str = "docs", latency_ms: int = 10, **more: Any) -> LookupLine:
    plain = LookupLine("t", corpus, latency_ms, "SUFFICIENT", 1, "", ())
    return replace(plain, **more)


def block(corpus: str) -> Returned:
    return Returned("d#chunk-0", corpus, 1, "a" * 64, 0.5, ("dense",))


def stages(corpus: str, **spent: int) -> tuple[StageTime, ...]:
    return tuple(StageTime(corpus, stage, ms) for stage, ms in spent.items())


def keep(catalog: Catalog, *lines: LookupLine) -> None:
    for one in lines:
        catalog.activity.record_lookup(one)


def item(doc_id: str, text: str = "a" * 64) -> dict[str, Any]:
    names = ("user_id", "assistant_id", "conversation_id")
    return {
        **dict.fromkeys(names, "x"),
        "doc_id": doc_id,
        "item_id": doc_id,
        "kb_scope": "",
        "text_digest": text,
        "memory_type": "fact",
        "confidence": 1.0,
        "sensitivity_level": 0,
        "source_event_id": "",
        "created_at": 0,
        "expires_at": 0,
    }


def test_a_corpus_that_nobody_asked_has_no_figures(catalog: Catalog) -> None:
    keep(catalog, line("memory"))
    found = figures_of(catalog, "docs")
    nothing = {"count": 0, "p50": None, "p95": None, "p99": None}
    assert found.as_dict() == {
        "corpus": "docs",
        "since": None,
        "from": None,
        "to": None,
        "count": 0,
        "hits": 0,
        "hit_rate": None,
        "evidence": {"SUFFICIENT": 0, "WEAK": 0, "NONE": 0},
        "latency_ms": nothing,
        "stages": {},
        "degraded": 0,
        "degraded_rate": None,
        "degradations": {},
        "degradation_rates": {},
        "cached": 0,
        "cached_rate": None,
        "legacy": 0,
        "legacy_rate": None,
        "items": {},
    }


def test_answers_of_one_corpus_are_counted(catalog: Catalog, clock: HandClock) -> None:
    keep(
        catalog,
        line(latency_ms=40, degradations=("rerank_timeout", "l0_empty", "rerank_timeout")),
        line(latency_ms=10, evidence_status="WEAK", degradations=("l0_empty",)),
        line(latency_ms=30, evidence_status="NONE", hit_count=0),
    )
    clock.now = START + 1_500
    keep(catalog, line(latency_ms=20, cached=True))
    found = figures_of(catalog, "docs")
    assert (found.lookups, found.hits, found.hit_rate) == (4, 3, 0.75)
    assert (found.first_at, found.last_at) == (START, START + 1_500)
    assert found.evidence == {"SUFFICIENT": 2, "WEAK": 1, "NONE": 1}
    assert found.latency == Spread(4, 20, 40, 40)
    assert (found.degraded, found.degradations) == (2, {"l0_empty": 2, "rerank_timeout": 1})
    assert (found.cached, found.legacy) == (1, 0)
    shown = found.as_dict()
    assert shown["degradation_rates"] == {"l0_empty": 0.5, "rerank_timeout": 0.25}
    assert (shown["degraded_rate"], shown["cached_rate"], shown["legacy_rate"]) == (0.5, 0.25, 0.0)
    assert (shown["from"], shown["to"]) == (iso(START), iso(START + 1_500))


def test_a_stage_is_what_a_lookup_spent_in_it(catalog: Catalog) -> None:
    twice = (*stages("docs", pack=1, search=20), *stages("docs", search=5, embed=3, later=7))
    keep(catalog, line(stages=twice), line(stages=stages("docs", search=4, pack=2)))
    found = figures_of(catalog, "docs").stages
    assert list(found) == ["embed", "search", "pack", "later"]
    assert found == {
        "embed": spread_of([3]),
        "search": spread_of([25, 4]),
        "pack": spread_of([1, 2]),
        "later": spread_of([7]),
    }


def test_an_answer_at_hand_took_no_stage(catalog: Catalog) -> None:
    keep(catalog, line(stages=stages("docs", search=0), cached=True))
    keep(catalog, line(stages=stages("docs", search=8)))
    found = figures_of(catalog, "docs")
    assert (found.lookups, found.stages) == (2, {"search": spread_of([8])})


def test_a_lookup_over_several_corpora_counts_in_each(catalog: Catalog) -> None:
    spent = (
        *stages("docs", search=30, threshold=0, document_cap=1),
        *stages("memory", search=4, document_cap=2),
        *stages("docs,memory", blend=1, pack=5),
    )
    both = line("docs,memory", 44, hit_count=2, blocks=(block("docs"), block("docs")))
    lacked = {"degradations": ("l0_empty", "budget"), "degraded_in": ("docs", "docs,memory")}
    keep(catalog, replace(both, stages=spent, legacy=("memory",), **lacked))
    keep(catalog, line("memory", 6, selected_attempt="LEGACY", stages=stages("memory", search=5)))
    docs, memory, web = (figures_of(catalog, name) for name in ("docs", "memory", "web"))
    assert (docs.lookups, docs.hits, docs.legacy) == (1, 1, 0)
    assert (memory.lookups, memory.hits, memory.legacy) == (2, 1, 2)
    assert docs.degradations == {"budget": 1, "l0_empty": 1}
    assert memory.degradations == {"budget": 1}
    assert (docs.latency, memory.latency) == (spread_of([44]), spread_of([44, 6]))
    assert docs.stages["search"] == spread_of([30])
    assert memory.stages["search"] == spread_of([4, 5])
    assert docs.stages["pack"] == memory.stages["pack"] == spread_of([5])
    assert web.lookups == 0


def test_a_name_that_only_begins_alike_is_another_corpus(catalog: Catalog) -> None:
    keep(catalog, line("docsx", stages=stages("docsx", search=1)))
    keep(catalog, line("web,docs", blocks=(block("docsx"),), stages=stages("web,docsx", pack=1)))
    found = figures_of(catalog, "docs")
    assert (found.lookups, found.hits, found.stages) == (1, 0, {})


def test_lines_of_an_older_version_count_as_far_as_they_go(catalog: Catalog) -> None:
    keep(catalog, line("docs"), line("docs,memory", latency_ms=20))
    unknown = dict.fromkeys(("blocks", "stages", "cached", "connection", "selected_attempt"))
    with catalog._database.write() as connection:
        connection.execute(update(lookups).values(**unknown))
    found = figures_of(catalog, "docs")
    assert (found.lookups, found.hits, found.stages) == (2, 2, {})
    assert (found.latency, found.cached, found.legacy) == (spread_of([10, 20]), 0, 0)
    assert figures_of(catalog, "memory").hits == 1


def test_figures_reach_back_to_a_time(catalog: Catalog, clock: HandClock) -> None:
    keep(catalog, line(latency_ms=1))
    clock.now += HOUR_MS
    keep(catalog, line(latency_ms=2))
    assert figures_of(catalog, "docs", clock.now).latency == spread_of([2])
    assert figures_of(catalog, "docs", clock.now + 1).lookups == 0
    assert figures_of(catalog, "docs", clock.now).as_dict()["since"] == iso(clock.now)


def test_a_line_at_hand_and_a_kept_one_are_the_same_facts(catalog: Catalog) -> None:
    several = line("docs,memory", hit_count=1, blocks=(block("memory"),), degradations=("a",))
    lines = [line(stages=stages("docs", search=3)), several, line(cached=True, hit_count=0)]
    keep(catalog, *lines)
    kept = [replace(one, created_at=START) for one in reversed(lines)]
    stored = [one._replace(stages=tuple(map(tuple, one.stages))) for one in catalog.lookup_facts()]
    assert stored == [facts_of_line(one) for one in kept]


def test_items_are_counted_by_state(catalog: Catalog) -> None:
    rows = catalog.items["memory"].put([item("a"), item("b"), item("c")])
    catalog.items["memory"].settle(rows[:1], "INDEXED")
    assert figures_of(catalog, "memory").items == {"PENDING": 2, "INDEXED": 1, "FAILED": 0}
    assert figures_of(catalog, "web").items == {"PENDING": 0, "INDEXED": 0, "FAILED": 0}
    assert figures_of(catalog, "docs").items == {}


def shadow_line(overlap: float | None, correlation: float | None, **more: Any) -> ShadowLine:
    plain = ShadowLine("memory", 5, overlap, correlation, legacy_ms=4, core_ms=30)
    return replace(plain, **more)


def test_shadow_difference_is_a_mean_of_what_was_compared(
    catalog: Catalog, clock: HandClock
) -> None:
    catalog.shadows.record(shadow_line(1.0, 0.5))
    clock.now += 1_000
    catalog.shadows.record(shadow_line(0.5, None, core_ms=50))
    catalog.shadows.record(shadow_line(None, None, error_code="STORE_UNREACHABLE", legacy_ms=9))
    catalog.shadows.record(replace(shadow_line(0.0, -1.0), corpus="web"))
    assert shadow_of(catalog, "memory") == ShadowFigures(
        corpus="memory",
        since=0,
        first_at=START,
        last_at=START + 1_000,
        lookups=3,
        n=5,
        compared=2,
        overlap=0.75,
        correlated=1,
        correlation=0.5,
        failed=1,
        errors={"STORE_UNREACHABLE": 1},
        legacy=spread_of([4, 4, 9]),
        core=spread_of([30, 50, 30]),
    )
    assert shadow_of(catalog, "memory", clock.now).overlap == 0.5
    assert shadow_of(catalog, "docs").as_dict()["overlap"] is None


def test_widths_that_differ_have_no_common_name(catalog: Catalog) -> None:
    catalog.shadows.record(shadow_line(1.0, 1.0))
    catalog.shadows.record(shadow_line(1.0, 1.0, n=3))
    found = shadow_of(catalog, "memory")
    assert (found.lookups, found.n) == (2, None)
    assert "| overlap | 1.000 | 2 |" in figures_markdown(figures_of(catalog, "memory"), found)


def test_markdown_has_a_table_for_each_thing(catalog: Catalog) -> None:
    keep(catalog, line("memory", stages=stages("memory", search=1_234)))
    keep(catalog, line("memory", hit_count=0, degradations=("l0_empty",)))
    catalog.items["memory"].put([item("a")])
    catalog.shadows.record(shadow_line(0.5, None, error_code="CORPUS_EMPTY"))
    shown = figures_markdown(figures_of(catalog, "memory"), shadow_of(catalog, "memory"))
    rows = [one for one in shown.splitlines() if one.startswith("|")]
    assert "| with evidence | 1 | 50.0% |" in rows
    assert "| SUFFICIENT | 2 | 100.0% |" in rows
    assert "| search | 1 | 1,234 | 1,234 | 1,234 |" in rows
    assert "| `l0_empty` | 1 | 50.0% |" in rows
    assert "| PENDING | 1 |" in rows
    assert "| overlap@5 | 0.500 | 1 |" in rows
    assert "| rank correlation | – | 0 |" in rows
    assert "| `CORPUS_EMPTY` | 1 | 100.0% |" in rows
    tables = shown.split("\n## ")[1:]
    assert all(len({row.count("|") for row in t.splitlines() if row}) == 2 for t in tables)


def test_daily_figures_are_those_of_the_last_day(catalog: Catalog, clock: HandClock) -> None:
    keep(catalog, line("memory", latency_ms=1))
    catalog.items["memory"].put([item("a")])
    clock.now += 25 * HOUR_MS
    ((name, empty),) = daily_markdown(catalog, clock.now)
    assert name == "memory"
    assert f"No lookups since {iso(clock.now - 24 * HOUR_MS)}." in empty
    keep(catalog, line("memory", latency_ms=7))
    ((_, shown),) = daily_markdown(catalog, clock.now)
    assert "| all together | 1 | 7 | 7 | 7 |" in shown
