"""A folder in the layout of BEIR: what is read, and what is refused by file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pincite.errors import BenchmarkInvalid
from pincite.evaluation.benchmark.beir import BeirDocument, read_beir

DOCUMENTS = [
    {"_id": "d1", "title": "Bees", "text": "Bees dance."},
    {"_id": "d2", "text": "The moon raises tides."},
]
QUERIES = [{"_id": "q1", "text": "Who dances?"}, {"_id": "q2", "text": "What raises tides?"}]
HEADER = "query-id\tcorpus-id\tscore\n"
QRELS = HEADER + "q1\td1\t1\nq2\td2\t2\n"


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(
    folder: Path,
    corpus: str | bytes = lines(DOCUMENTS),
    queries: str | bytes = lines(QUERIES),
    qrels: str | bytes = QRELS,
    where: str = "qrels.tsv",
) -> Path:
    for name, content in (("corpus.jsonl", corpus), ("queries.jsonl", queries), (where, qrels)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def graded(folder: Path, split: str = "test") -> dict[str, dict[str, int]]:
    return {query.id: dict(query.relevant) for query in read_beir(folder, split).queries}


def test_documents_and_questions_are_read_in_order(tmp_path):
    beir = read_beir(write(tmp_path))
    assert list(beir.documents()) == [
        BeirDocument("d1", "Bees", "Bees dance."),
        BeirDocument("d2", "", "The moon raises tides."),
    ]
    assert [(query.id, query.text) for query in beir.queries] == [
        ("q1", "Who dances?"),
        ("q2", "What raises tides?"),
    ]
    assert (beir.document_count, beir.unjudged) == (2, 0)


def test_documents_are_read_one_at_a_time(tmp_path):
    beir = read_beir(write(tmp_path))
    write(tmp_path, lines(DOCUMENTS[:1]) + "broken\n")
    documents = beir.documents()
    assert next(documents).id == "d1"
    with pytest.raises(BenchmarkInvalid, match="line 2"):
        next(documents)


@pytest.mark.parametrize(
    ("title", "text", "content"),
    [
        ("Bees", "They dance.", "Bees\n\nThey dance."),
        ("", "They dance.", "They dance."),
        ("Bees", "  ", "Bees"),
        ("", "", ""),
    ],
)
def test_content_is_title_blank_line_text(title, text, content):
    assert BeirDocument("d", title, text).content == content


def test_a_title_of_null_is_none(tmp_path):
    corpus = lines([{**DOCUMENTS[0], "title": None}, DOCUMENTS[1]])
    assert next(read_beir(write(tmp_path, corpus)).documents()).title == ""


@pytest.mark.parametrize(
    "qrels",
    [
        QRELS,
        QRELS.removeprefix(HEADER),
        QRELS.replace("\n", "\r\n"),
        "\ufeff" + QRELS,
        "qid\tdoc\tgrade\n" + QRELS.removeprefix(HEADER),
        "\n" + QRELS.rstrip("\n"),
        QRELS + "q1\td1\t1\n",
    ],
)
def test_judgements_with_and_without_header(tmp_path, qrels):
    assert graded(write(tmp_path, qrels=qrels)) == {"q1": {"d1": 1}, "q2": {"d2": 2}}


def test_a_split_has_a_file_of_its_own(tmp_path):
    write(tmp_path, qrels="q1\td1\t1\n", where="qrels/test.tsv")
    write(tmp_path, qrels="q2\td1\t3\n", where="qrels/dev.tsv")
    assert graded(tmp_path) == {"q1": {"d1": 1}}
    assert graded(tmp_path, "dev") == {"q2": {"d1": 3}}
    with pytest.raises(BenchmarkInvalid, match="There are: dev, test"):
        read_beir(tmp_path, "train")


def test_a_file_without_splits_stands_for_the_default_one_only(tmp_path):
    with pytest.raises(BenchmarkInvalid, match="no judgements for the split 'dev'"):
        read_beir(write(tmp_path), "dev")


def test_a_question_without_a_judgement_above_0_is_left_out_and_counted(tmp_path):
    beir = read_beir(write(tmp_path, qrels=HEADER + "q1\td1\t0\nq1\td2\t0\nq2\td1\t0\nq2\td2\t1\n"))
    assert [(query.id, dict(query.relevant)) for query in beir.queries] == [("q2", {"d2": 1})]
    assert beir.unjudged == 1


def test_an_id_may_be_anything_that_a_line_can_hold(tmp_path):
    odd = ["a/b/../c.txt", "Überschrift 标题", "x" * 300, "d", "D", "e\u0301", "é", " d "]
    corpus = lines([{"_id": one, "text": "t"} for one in odd])
    qrels = "".join(f"q1\t{one}\t{grade}\n" for grade, one in enumerate(odd, start=1))
    assert graded(write(tmp_path, corpus, qrels=qrels))["q1"] == {
        one: grade for grade, one in enumerate(odd, start=1)
    }


def with_line(rows: list[dict[str, Any]], row: object) -> str:
    return lines(rows) + json.dumps(row) + "\n"


@pytest.mark.parametrize(
    ("name", "content", "line", "what"),
    [
        ("corpus.jsonl", lines(DOCUMENTS).encode() + b'{"_id": "\xff"}\n', 3, "not UTF-8"),
        ("corpus.jsonl", lines(DOCUMENTS) + "{,}\n", 3, "not JSON"),
        ("corpus.jsonl", lines(DOCUMENTS) + "\n[1]\n", 4, "no JSON object"),
        ("corpus.jsonl", with_line(DOCUMENTS, {"text": "t"}), 3, "'_id' is missing"),
        ("corpus.jsonl", with_line(DOCUMENTS, {"_id": "d3"}), 3, "'text' is missing"),
        ("corpus.jsonl", with_line(DOCUMENTS, {"_id": 3, "text": "t"}), 3, "'_id' is no text"),
        ("corpus.jsonl", with_line(DOCUMENTS, {"_id": "", "text": "t"}), 3, "is empty"),
        ("corpus.jsonl", with_line(DOCUMENTS, DOCUMENTS[0]), 3, "'d1' stands twice"),
        (
            "corpus.jsonl",
            lines(DOCUMENTS) + '{"_id": "d3", "text": "\\ud800"}\n',
            3,
            "'text' is not valid Unicode",
        ),
        ("queries.jsonl", with_line(QUERIES, QUERIES[0]), 3, "'q1' stands twice"),
        ("queries.jsonl", with_line(QUERIES, {"_id": "q3", "text": " "}), 3, "is blank"),
        ("queries.jsonl", with_line(QUERIES, {"_id": "q3"}), 3, "'text' is missing"),
        ("qrels.tsv", QRELS + "q1\tnone\t1\n", 4, "no document 'none'"),
        ("qrels.tsv", QRELS + "none\td1\t1\n", 4, "no question 'none'"),
        ("qrels.tsv", "q1\tnone\t1\n", 1, "no document 'none'"),
        ("qrels.tsv", "q1\td1\tmuch\n", 1, "'much' is no whole number"),
        ("qrels.tsv", QRELS + "q1\td2\t1.5\n", 4, "'1.5' is no whole number"),
        ("qrels.tsv", QRELS + "q1\td2\t-1\n", 4, "'-1' is no whole number"),
        ("qrels.tsv", QRELS + "q1\td2\t١\n", 4, "is no whole number"),
        ("qrels.tsv", QRELS + "q1\td1\t2\n", 4, "'d1' has another grade"),
        ("qrels.tsv", QRELS + "q1 d2 1\n", 4, "1 columns"),
        ("qrels.tsv", QRELS + "q1\t0\td2\t1\n", 4, "4 columns"),
        ("qrels.tsv", QRELS.encode() + b"q1\t\xfe\t1\n", 4, "not UTF-8"),
    ],
)
def test_what_is_wrong_is_told_by_file_and_line(tmp_path, name, content, line, what):
    write(tmp_path)
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BenchmarkInvalid) as caught:
        read_beir(tmp_path)
    assert f"{str(tmp_path / name)!r}, line {line}: " in caught.value.message
    assert what in caught.value.message


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(tmp_path, name):
    write(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(BenchmarkInvalid, match=name.removesuffix(".tsv")):
        read_beir(tmp_path)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"corpus": ""}, "holds no document"),
        ({"qrels": HEADER}, "judges no question above 0"),
        ({"qrels": "q1\td1\t0\n"}, "judges no question above 0"),
    ],
)
def test_nothing_to_measure_is_an_error(tmp_path, changes, what):
    with pytest.raises(BenchmarkInvalid, match=what):
        read_beir(write(tmp_path, **changes))


def test_a_long_id_is_shortened_in_the_message(tmp_path):
    with pytest.raises(BenchmarkInvalid) as caught:
        read_beir(write(tmp_path, qrels=QRELS + f"q1\t{'x' * 5_000}\t1\n"))
    assert len(caught.value.message) < 400
