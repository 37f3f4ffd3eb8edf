"""``pincite eval benchmark`` as people and scripts run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

TEXTS = {
    "bees": "Bees dance to show the way to a meadow.",
    "tides": "The moon raises the tides twice a day.",
    "blank": "",
}
QUESTIONS = {"bees": "How do bees dance?", "tides": "What raises the tides?", "none": "Who asks?"}


@pytest.fixture(scope="module")
def folder(place: Path) -> Path:
    folder = place / "little"
    (folder / "qrels").mkdir(parents=True)
    for name, texts in (("corpus.jsonl", TEXTS), ("queries.jsonl", QUESTIONS)):
        rows = [{"_id": one, "text": text} for one, text in texts.items()]
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    for split, names in (("test", ("bees", "tides")), ("dev", ("tides",))):
        judged = "".join(f"{one}\t{one}\t1\n" for one in names)
        (folder / "qrels" / f"{split}.tsv").write_text(judged, "utf-8")
    return folder


def bench(pincite: Any, folder: Path, *more: str, **variables: str) -> Any:
    return pincite("eval", "benchmark", str(folder), *more, **variables)


def test_json_is_the_whole_result(pincite, folder):
    ran = bench(pincite, folder, "--json", "--mode", "lexical")
    assert ran.status == 0, ran.err
    found = ran.json
    assert found["measures"]["ndcg@10"] == found["measures"]["recall@10"] == 1.0
    assert found["documents"] == {"total": 3, "empty": 1, "missing": 0, "failures": {}}
    assert found["queries"] == {"judged": 2, "asked": 2, "unjudged": 1}
    assert found["settings"]["mode"] == "lexical"
    assert found["settings"]["embedder"].startswith("hash|")
    assert (found["benchmark"], found["split"], found["chunks"]) == ("little", "test", 2)
    assert "Ingesting 3 documents" in ran.err


def test_a_person_reads_measures_sizes_and_settings(pincite, folder):
    ran = bench(pincite, folder, "--split", "dev", "--k", "100")
    assert ran.status == 0, ran.err
    assert "little, split dev" in ran.out
    for line in ("  ndcg@10       1.000", "  recall@100    1.000", "  questions     1 of 1"):
        assert line in ran.out
    assert "reranker      blend" in ran.out
    assert "2 questions without a judgement above 0 left out." in ran.err
    assert "1 document without text cannot be found." in ran.err


def test_a_kept_place_is_used_again_also_after_a_change_of_the_recipe(pincite, folder, place):
    work = ("--work", str(place / "kept"), "--json")
    computed = []
    for size in ("400", "400", "5", "5"):
        ran = bench(
            pincite,
            folder,
            *work,
            PINCITE_RAG__INGEST__CHUNK_SIZE=size,
            PINCITE_RAG__INGEST__CHUNK_OVERLAP="0",
        )
        assert ran.status == 0, ran.err
        assert ran.json["settings"]["chunkSize"] == int(size)
        computed.append((ran.json["embeddings"]["computed"], ran.json["chunks"]))
    whole, again, small, small_again = computed
    assert (whole, again) == ((2, 2), (0, 2))
    assert small[1] > 2
    assert small_again == (0, small[1])


def test_embeddings_are_kept_when_a_place_is_moved(pincite, folder, place):
    bench(pincite, folder, "--work", str(place / "before"))
    (place / "before").rename(place / "after")
    ran = bench(pincite, folder, "--work", str(place / "after"), "--json")
    assert ran.status == 0, ran.err
    assert ran.json["embeddings"] == {"computed": 0, "cached": 2}


def test_documents_that_are_missing_exit_1(pincite, folder):
    ran = bench(pincite, folder, PINCITE_RAG__INGEST__MAX_FILE_BYTES="38")
    assert ran.status == 1
    assert "1 document not in the corpus: larger than rag.ingest.max-file-bytes." in ran.err


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (("--split", "train"), "BENCHMARK_INVALID"),
        (("--mode", "both"), "REQUEST_INVALID"),
        (("--k", "0"), "REQUEST_INVALID"),
        (("--limit", "0"), "REQUEST_INVALID"),
    ],
)
def test_wrong_usage_exits_2(pincite, folder, more, code):
    ran = bench(pincite, folder, *more, "--json")
    assert ran.status == 2
    assert ran.json["error"]["code"] == code


def test_a_folder_of_something_else_is_neither_benchmark_nor_place(pincite, folder, place):
    ran = bench(pincite, place / "notes", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "BENCHMARK_INVALID")
    ran = bench(pincite, folder, "--work", str(place / "notes"), "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "REQUEST_INVALID")
    assert sorted(path.name for path in (place / "notes").iterdir()) == ["paris.md", "water.md"]
