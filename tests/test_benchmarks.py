"""The benchmarks' own measures give known values, and the quality command runs from end to end."""

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

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks"
TIMEOUT_S = 300


class Scripts(NamedTuple):
    """The modules beside the commands."""

    measures: ModuleType
    sets: ModuleType
    answerability: ModuleType


@pytest.fixture(scope="module")
def scripts() -> Iterator[Scripts]:
    """They find one another through the path alone, as when a command is run."""
    before = set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    try:
        names = ("retrieval_measures", "sets", "answerability")
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


ARTICLES = {
    "Bees": ["Bees dance to show the way to a meadow.", "A hive has one queen and many workers."],
    "Tides": ["The moon raises the tides twice a day.", "A harbour dries out at low water."],
    "Bread": ["Sourdough rises by wild yeast.", "An oven stone holds the heat for the crust."],
    "Ink": ["Iron gall ink darkens as it dries.", "A quill is cut with a small knife."],
}
QUESTIONS = [
    ("p0", "How do bees show the way to a meadow?"),
    ("p1", "How many queens has a hive?"),
    ("p2", "What raises the tides?"),
    ("p3", "When does a harbour dry out?"),
    ("p4", "What makes sourdough rise?"),
    ("p5", "What holds the heat for the crust?"),
    ("p6", "Which ink darkens as it dries?"),
    ("p7", "What is a quill cut with?"),
]
LONG = " \n  " + "\n\n".join(
    f"Paragraph {number} speaks of {word}. " + f"It says {word} again and again. " * 40
    for number, word in enumerate(("lanterns", "anchors", "violins", "granite", "saffron"))
)


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_text(text, "utf-8")


def write_documents(folder: Path) -> None:
    folder.mkdir(parents=True)
    pairs = [(title, text) for title, texts in ARTICLES.items() for text in texts]
    lines(
        folder / "corpus.jsonl",
        [{"_id": f"p{at}", "title": title, "text": text} for at, (title, text) in enumerate(pairs)],
    )
    lines(folder / "queries.jsonl", [{"_id": f"q{i}", "text": text} for i, text in QUESTIONS])
    judged = "".join(f"q{i}\t{i}\t1\n" for i, _ in QUESTIONS)
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged, "utf-8")


def write_long_texts(folder: Path) -> None:
    (folder / "corpora").mkdir(parents=True)
    (folder / "corpora" / "things.md").write_text(LONG, "utf-8", newline="")
    rows = ["question,references,corpus_id"]
    for word in ("anchors", "granite"):
        content = f"speaks of {word}."
        start = LONG.index(content)
        gold = [{"content": content, "start_index": start, "end_index": start + len(content)}]
        quoted = json.dumps(gold).replace('"', '""')
        rows.append(f'Which paragraph speaks of {word}?,"{quoted}",things')
    (folder / "questions_df.csv").write_text("\n".join(rows) + "\n", "utf-8")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two made-up sets in the folders of the real ones."""
    place = tmp_path_factory.mktemp("data")
    write_documents(place / "xquad" / "beir-en")
    write_long_texts(place / "chunking_evaluation")
    return place


@pytest.fixture(scope="module")
def reports(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The reports of two runs, the second one over what the first one kept."""
    place = tmp_path_factory.mktemp("quality")
    return run(data, place, "first.md"), run(data, place, "second.md")


def run(data: Path, place: Path, name: str) -> str:
    done = subprocess.run(
        [
            *(sys.executable, str(FOLDER / "quality.py"), "--data", str(data)),
            *("--only", "xquad-en", "chunking", "--embedder", "hash"),
            *("--work", str(place / "work"), "--results", str(place / name)),
        ],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    report = (place / name).read_text("utf-8")
    assert done.stdout == report
    return report


def section(report: str, heading: str) -> list[list[str]]:
    """Cells of the rows of the tables below a heading, up to the next one of its level."""
    body = report.partition(f"\n{heading}")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in body.splitlines() if line.startswith("|")]
    return [row for row in rows if not set(row[0]) <= set("-:")]


def figure(report: str, *words: str) -> float:
    (row,) = [row for row in section(report, "## Figures") if row[:3] == list(words)]
    return float(row[3])


def test_quality_finds_what_shares_its_words(reports: tuple[str, str]) -> None:
    for mode in ("dense", "lexical", "hybrid", "hybrid + rerank"):
        assert figure(reports[0], "XQuAD en", "nDCG@10", mode) > 0.9


def test_quality_finds_spans_in_a_text_that_begins_with_blanks(reports: tuple[str, str]) -> None:
    for measure in ("gold whole", "gold in union", "recall@5"):
        assert figure(reports[0], "chunking_evaluation", measure, "lexical") == 1.0


def test_quality_reports_sizes(reports: tuple[str, str]) -> None:
    rows = section(reports[0], "## Sets")
    assert ["XQuAD en", "8", "8", "8"] in rows
    assert [row[0] for row in rows[1:]] == ["XQuAD en", "chunking_evaluation"]


def test_answerability_counts_the_questions_of_half_of_the_articles(
    reports: tuple[str, str],
) -> None:
    rows = section(reports[0], "## Answerability")
    (default,) = [row for row in rows if row[0] == "XQuAD en"]
    assert default[1] == "4"
    assert all(0 <= float(cell.split()[0]) <= 1 for cell in default[2:])


def test_two_runs_differ_in_times_alone(reports: tuple[str, str]) -> None:
    first, second = (report.partition("\n## Time on")[0] for report in reports)
    assert first == second
