"""The quality benchmark runs from end to end on made-up sets."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
TIMEOUT_S = 300
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
