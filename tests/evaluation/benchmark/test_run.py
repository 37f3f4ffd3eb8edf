"""A benchmark through the real ingest and the real lookup, over Milvus Lite."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.errors import RequestInvalid
from pincite.evaluation.benchmark.place import MARK, benchmark_place
from pincite.evaluation.benchmark.result import BenchmarkResult
from pincite.evaluation.benchmark.run import (
    DOCUMENTS,
    HOME,
    BenchmarkRequest,
    file_stem,
    run_benchmark,
)
from pincite.settings import Settings, load_settings
from pincite.testing.embedding_endpoint import EmbeddingEndpoint, refusing

# Ids that are no file names, or the same one on some file system.
TEXTS = {
    "bees/dance.md": "Bees dance to show the way to a meadow.",
    "../moon": "The moon raises the tides twice a day.",
    "面包 \U0001f35e": "Sourdough rises by wild yeast.",
    "i" * 300: "Iron gall ink darkens as it dries.",
    "Stone": "An oven stone holds the heat for the crust.",
    "stone": "Granite is quarried in large blocks.",
    "e\u0301": "A quill is cut with a small knife.",
    "é": "A violin is strung with four strings.",
    "front": "---\ntitle: Lanterns\n---\nAnchors hold a ship in the current.",
    "none": " \n ",
}
QUESTIONS = {
    "bees/dance.md": "How do bees show the way to a meadow?",
    "../moon": "What raises the tides?",
    "面包 \U0001f35e": "What makes sourdough rise?",
    "i" * 300: "Which ink darkens as it dries?",
    "Stone": "What holds the heat for the crust?",
    "stone": "What is quarried in large blocks?",
    "e\u0301": "What is a quill cut with?",
    "é": "How many strings has a violin?",
    "front": "What is the title about lanterns?",
}


def write_benchmark(folder: Path, qrels: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    corpus = [{"_id": one, "title": "", "text": text} for one, text in TEXTS.items()]
    queries = [{"_id": f"q-{one}", "text": text} for one, text in QUESTIONS.items()]
    queries.append({"_id": "q-unjudged", "text": "Who judges this?"})
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    own = "".join(f"q-{one}\t{one}\t1\n" for one in QUESTIONS)
    (folder / "qrels.tsv").write_text(qrels or own, "utf-8")
    return folder


def settings_of(place: Path, **given: Any) -> Settings:
    """Settings of a user whose own home, store and catalogue must stay untouched."""
    own = {
        "home": place / "own",
        "embedder.provider": "hash",
        "store.uri": str(place / "own.db"),
        "catalog.url": f"sqlite:///{place / 'own.sqlite'}",
        "texts.url": str(place / "own-texts"),
        "retrieval.kb-scope": "team-a",
        "retrieval.vector-store.mode": "spring",
        "rag.enabled": False,
    }
    return load_settings({**own, **given}, folder=place, environment={})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_benchmark(tmp_path_factory.mktemp("benchmark") / "odd")


@pytest.fixture
def run(folder: Path, tmp_path: Path) -> Callable[..., BenchmarkResult]:
    """Runs the benchmark in one place; options of the request, and settings by dotted key."""

    def run(settings: Settings | None = None, **options: Any) -> BenchmarkResult:
        request = BenchmarkRequest(**{"folder": folder, **options})
        inside = settings or settings_of(tmp_path)
        return asyncio.run(run_benchmark(request, inside, tmp_path / "work"))

    return run


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_documents_are_found_whatever_their_ids(run, mode):
    result = run(mode=mode)
    assert result.measures["recall@10"] == 1.0
    assert result.measures["mrr@10"] >= 0.9
    assert result.in_force.mode == mode
    assert result.whole


def test_sizes_count_what_is_empty_and_what_is_not_judged(run):
    sizes = run().sizes
    assert (sizes.documents, sizes.empty, sizes.missing, sizes.chunks) == (10, 1, 0, 9)
    assert (sizes.judged, sizes.asked, sizes.unjudged) == (9, 9, 1)


def test_frontmatter_of_a_document_is_its_text(run, tmp_path):
    run(limit=1)
    path = tmp_path / "work" / DOCUMENTS / f"{file_stem('front')}.txt"
    assert path.read_text("utf-8") == TEXTS["front"]
    assert run(mode="lexical").measures["recall@10"] == 1.0


def test_measures_are_those_of_the_ranking(folder, tmp_path, run):
    """Two documents answer one question: one comes first, the other never."""
    qrels = "q-../moon\t../moon\t1\nq-../moon\tnone\t1\nq-Stone\tnone\t1\n"
    other = write_benchmark(tmp_path / "graded", qrels)
    found = run(folder=other, mode="lexical").measures
    best = 1 + 1 / math.log2(3)
    assert found["mrr@10"] == pytest.approx((1 + 0) / 2)
    assert found["recall@10"] == pytest.approx((0.5 + 0) / 2)
    assert found["precision@10"] == pytest.approx((0.1 + 0) / 2)
    assert found["ndcg@10"] == pytest.approx((1 / best + 0) / 2)


@pytest.mark.parametrize(
    ("k", "names"),
    [
        (3, {"recall@3", "precision@3", "mrr@3", "ndcg@3"}),
        (10, {"recall@10", "precision@10", "mrr@10", "ndcg@10"}),
        (100, {"recall@10", "precision@10", "mrr@10", "ndcg@10", "recall@100"}),
    ],
)
def test_a_longer_ranking_adds_its_recall(run, k, names):
    result = run(k=k, limit=2)
    assert set(result.measures) == names
    assert result.in_force.retrieve_k == max(20, 2 * k)


def test_limit_asks_the_first_questions(run):
    assert (run(limit=2).sizes.asked, run(limit=99).sizes.asked) == (2, 9)


def test_a_second_run_embeds_nothing_again(run):
    first, second = run(), run()
    assert first.sizes.computed == 9
    assert (second.sizes.computed, second.sizes.chunks) == (0, 9)
    assert second.measures == first.measures


def test_documents_of_a_former_run_are_gone(run, tmp_path):
    run()
    other = write_benchmark(tmp_path / "other", "q-Stone\tStone\t1\n")
    row = json.dumps({"_id": "Stone", "text": TEXTS["Stone"]})
    (other / "corpus.jsonl").write_text(row + "\n", "utf-8")
    assert run(folder=other).sizes.chunks == 1


def test_nothing_of_the_users_own_is_touched(run, tmp_path):
    result = run(mode="lexical")
    assert result.measures["recall@10"] == 1.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["work"]
    assert {path.name for path in (tmp_path / "work").iterdir()} == {DOCUMENTS, HOME}


def test_settings_in_force_are_those_given(run, tmp_path):
    given = {"rag.reranker.enabled": False, "rag.ingest.chunk-size": 50, "rag.threshold": 0.1}
    in_force = run(settings_of(tmp_path, **given, **{"rag.ingest.chunk-overlap": 0})).in_force
    assert in_force.embedder.startswith("hash|")
    assert (in_force.reranker, in_force.chunk_size, in_force.threshold) == ("none", 50, 0.1)


def test_a_document_that_is_not_in_the_corpus_is_told(run, tmp_path):
    result = run(settings_of(tmp_path, **{"rag.ingest.max-file-bytes": 40}))
    too_large = sum(len(text.encode()) > 40 for text in TEXTS.values())
    assert result.sizes.missing == too_large > 0
    assert not result.whole


def test_a_document_that_the_embedder_refuses_is_told_with_its_code(run, tmp_path):
    with EmbeddingEndpoint(otherwise=refusing("quarried")) as endpoint:
        given = {
            "embedder.provider": "openai",
            "embedder.model": "scripted",
            "embedder.base-url": endpoint.url,
            "embedder.api-key": "secret",
            "embedder.dim": endpoint.dim,
        }
        sizes = run(settings_of(tmp_path, **given), limit=1).sizes
    assert (sizes.missing, sizes.failures) == (1, {"EMBEDDING_REJECTED": 1})


def test_what_lookups_do_without_is_counted(run, tmp_path):
    """Nothing listens at the reranker's address."""
    given = {"rag.reranker.provider": "http", "rag.reranker.base-url": "http://127.0.0.1:9"}
    result = run(settings_of(tmp_path, **given), limit=1)
    assert result.degradations["rerank/rerank_unreachable"] == 1
    assert result.in_force.reranker == "http"


def test_a_wrong_question_is_told_before_anything_is_ingested(run, tmp_path):
    with pytest.raises(RequestInvalid, match="Mode 'both' is unknown"):
        run(mode="both")
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("options", [{"k": 0}, {"limit": 0}, {"k": -1}])
def test_counts_start_at_1(options):
    with pytest.raises(RequestInvalid, match="a whole number from 1"):
        BenchmarkRequest(Path(), **options)


def test_a_place_is_gone_afterwards_unless_it_is_kept(tmp_path):
    with benchmark_place(None) as place:
        (place / "file").touch()
    assert not place.exists()
    with benchmark_place(tmp_path / "new" / "kept") as place:
        (place / "file").touch()
    with benchmark_place(tmp_path / "new" / "kept") as again:
        assert again == place
        assert {path.name for path in again.iterdir()} == {"file", MARK}


def test_a_folder_with_something_else_in_it_is_no_place(tmp_path):
    (tmp_path / "home").mkdir()
    with pytest.raises(RequestInvalid, match="no benchmark made it"), benchmark_place(tmp_path):
        pass
    assert not (tmp_path / MARK).exists()


def test_a_file_is_no_place(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(RequestInvalid, match="cannot be written"),
        benchmark_place(tmp_path / "file"),
    ):
        pass
