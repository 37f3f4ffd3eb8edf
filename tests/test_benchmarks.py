"""The benchmarks' own measures give known values, and overhead compares like with like."""

import asyncio
import importlib
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import LookupRequest
from pincite.settings import Settings
from pincite.store.port import Mode
from pincite.wiring import open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks"


class Scripts(NamedTuple):
    """The modules beside the commands."""

    measures: ModuleType
    answerability: ModuleType
    corpus: ModuleType
    overhead: ModuleType
    raw_search: ModuleType
    ways: ModuleType


@pytest.fixture(scope="module")
def scripts() -> Iterator[Scripts]:
    """They find one another through the path alone, as when a command is run."""
    before = set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    try:
        names = ("retrieval_measures", *Scripts._fields[1:])
        yield Scripts(*(importlib.import_module(name) for name in names))
    finally:
        sys.path.remove(str(FOLDER))
        here = {path.stem for path in FOLDER.glob("*.py")}
        for name in here & (set(sys.modules) - before):
            del sys.modules[name]


def test_ndcg_discounts_by_rank(scripts: Scripts) -> None:
    relevant = [{"a": 1}, {"a": 1}, {"a": 1}]
    ranked = [["a", "b"], ["b", "a"], ["b", "c"]]
    found = scripts.measures.ndcg_at_10(relevant, ranked)
    assert found == pytest.approx([1.0, 1 / math.log2(3), 0.0])


def test_ndcg_compares_with_the_best_possible_ranking(scripts: Scripts) -> None:
    gain = 1 / math.log2(2) + 1 / math.log2(4)
    best = 1 / math.log2(2) + 1 / math.log2(3)
    found = scripts.measures.ndcg_at_10([{"a": 1, "b": 1}], [["b", "x", "a"]])
    assert found == pytest.approx([gain / best])


def test_ndcg_ends_at_rank_ten(scripts: Scripts) -> None:
    ranked = [f"x{number}" for number in range(9)]
    found = scripts.measures.ndcg_at_10([{"a": 1}] * 2, [[*ranked, "a"], [*ranked, "y", "a"]])
    assert found == pytest.approx([1 / math.log2(11), 0.0])


def test_ndcg_of_a_query_that_found_nothing_is_zero(scripts: Scripts) -> None:
    assert scripts.measures.ndcg_at_10([{"a": 1}, {"a": 1}], [[], ["a"]]) == [0.0, 1.0]


def test_ndcg_keeps_the_order_of_many_queries(scripts: Scripts) -> None:
    ranked = [["a"] if number % 3 else ["b"] for number in range(12)]
    found = scripts.measures.ndcg_at_10([{"a": 1}] * 12, ranked)
    assert found == [float(bool(number % 3)) for number in range(12)]


def spans(scripts: Scripts, *given: tuple[int, int], path: str = "f") -> list[Any]:
    return [scripts.measures.Span(path, start, end) for start, end in given]


def test_a_gold_span_over_two_chunks_is_whole_in_their_union_only(scripts: Scripts) -> None:
    gold, found = spans(scripts, (5, 15)), spans(scripts, (0, 10), (8, 20))
    assert not scripts.measures.all_in_one_each(gold, found)
    assert scripts.measures.all_in_union(gold, found)


def test_each_gold_span_may_lie_in_another_chunk(scripts: Scripts) -> None:
    gold, found = spans(scripts, (0, 3), (30, 33)), spans(scripts, (0, 10), (30, 40))
    assert scripts.measures.all_in_one_each(gold, found)
    assert not scripts.measures.all_in_one_each(gold, found[:1])
    assert not scripts.measures.all_in_union(gold, found[:1])


def test_the_same_place_of_another_file_is_no_hit(scripts: Scripts) -> None:
    gold, found = spans(scripts, (0, 4)), spans(scripts, (0, 4), path="g")
    assert not scripts.measures.all_in_one_each(gold, found)
    assert not scripts.measures.all_in_union(gold, found)
    assert scripts.measures.character_recall(gold, found) == 0.0


def test_recall_counts_each_gold_character_once(scripts: Scripts) -> None:
    gold = spans(scripts, (0, 10), (5, 20))
    found = spans(scripts, (0, 8), (4, 10), (18, 40))
    assert scripts.measures.character_recall(gold, found) == pytest.approx(12 / 20)


def test_recall_of_nothing_found_is_zero(scripts: Scripts) -> None:
    assert scripts.measures.character_recall(spans(scripts, (3, 9)), []) == 0.0


def test_halves_are_the_even_and_the_odd_questions(scripts: Scripts) -> None:
    assert scripts.measures.halves([1.0, 0.0, 1.0, 0.5]) == (0.625, 1.0, 0.25)


@pytest.mark.parametrize(("share", "wanted"), [(0.5, 2.0), (0.95, 4.0), (0.0, 1.0), (1.0, 4.0)])
def test_percentile_is_the_nearest_rank(scripts: Scripts, share: float, wanted: float) -> None:
    assert scripts.measures.percentile([4.0, 1.0, 3.0, 2.0], share) == wanted


@pytest.mark.parametrize(
    ("lost", "wanted"), [(0.0, 0.75), (0.1, 0.75), (0.2, 0.5), (0.4, 0.25), (1.0, 0.0)]
)
def test_cut_loses_no_more_than_allowed(scripts: Scripts, lost: float, wanted: float) -> None:
    answerable = [0.3, 0.5, 0.7, 0.9, 0.95]
    unanswerable = [0.1, 0.4, 0.6, 0.8]
    assert scripts.answerability.false_at(lost, answerable, unanswerable) == wanted


def test_equal_scores_are_not_lost_in_part(scripts: Scripts) -> None:
    assert scripts.answerability.false_at(0.5, [0.5] * 4, [0.5, 0.4]) == 0.5


def test_reporting_articles_are_one_half_and_the_same_in_any_order(scripts: Scripts) -> None:
    names = [f"article-{number}" for number in range(48)]
    half = scripts.answerability.reporting_groups([*names, *names])
    assert len(half) == 24
    assert half < set(names)
    assert scripts.answerability.reporting_groups(names[::-1]) == half


def test_overhead_times_each_query_both_ways(scripts: Scripts, tmp_path: Path) -> None:
    folder, home = tmp_path / "corpus", tmp_path / "home"
    scripts.corpus.write_corpus(folder, 16)
    settings = scripts.overhead.settings_of(str(home / "milvus.db"), "", home, "hash")
    ways = (scripts.ways.DENSE, scripts.ways.RERANKED)
    timed = asyncio.run(scripts.overhead.measure(settings, folder, ways, 3))
    assert [one.way for one in timed] == list(ways)
    for one in timed:
        assert len(one.raw) == len(one.lookup) == 3
        assert min(*one.raw, *one.lookup) > 0
        assert one.chunks >= 16


def test_raw_search_is_the_lookups_own_with_each_leg_once(scripts: Scripts, tmp_path: Path) -> None:
    folder, home = tmp_path / "corpus", tmp_path / "home"
    scripts.corpus.write_corpus(folder, 16)
    settings = scripts.overhead.settings_of(str(home / "milvus.db"), "", home, "hash")
    answers, ids = asyncio.run(_raw_and_looked_up(scripts, settings, folder))
    dense, lexical = (set(answer[0].ids) for answer in answers)
    assert ids
    assert ids <= dense | lexical


async def _raw_and_looked_up(
    scripts: Scripts, settings: Settings, folder: Path
) -> tuple[list[Any], set[str]]:
    """Raw answers of both legs, and the keys of what a lookup returned."""
    (query,) = scripts.overhead.queries_of(folder, 1)
    request = LookupRequest(query, mode=Mode.HYBRID, timeout_ms=60_000)
    async with open_workspace(settings) as workspace:
        await ingest(IngestRequest((str(folder),)), DIRECT)
        parts = workspace.lookup_parts
        calls = await scripts.raw_search.searches_of(lambda: lookup_direct(request, parts))
        client = scripts.overhead.client_of(settings)
        raw = scripts.raw_search.RawSearch(client, workspace.embedder, calls)
        answers = await raw.ask(query, scripts.raw_search.terms_of(query))
        result = await lookup_direct(request, parts)
        await client.close()
    return answers, {block.candidate.evidence_key for block in result.blocks}


def test_memory_is_measured_through_the_real_lookup(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    turns = [
        ("c1/1", "c1", "Ann", "the cat sleeps on the red sofa", ""),
        ("c1/2", "c1", "Bob", "tomorrow it will rain", "a grey sky"),
        ("c2/1", "c2", "Cem", "the cat sleeps on the red sofa", ""),
    ]
    names = ("_id", "conv", "speaker", "text", "img_caption")
    lines = [{**dict(zip(names, turn, strict=True)), "date_time": "1 May"} for turn in turns]
    (data / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)))
    question = {"_id": "q1", "conv": "c1", "category": 4, "text": "where does the cat sleep"}
    (data / "queries.jsonl").write_text(json.dumps(question))
    (data / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tc1/1\t1\n")
    ran = subprocess.run(
        [sys.executable, str(FOLDER / "locomo.py"), "--data", str(data), "--embedder", "hash"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "3 turns" in ran.stdout
    assert "| hybrid | 1.000 | 1.000 | none |" in ran.stdout
