"""Runs a benchmark in the layout of BEIR through the real ingest and the real lookup."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pincite.errors import RequestInvalid
from pincite.evaluation.asking import PATIENT_MS, ask
from pincite.evaluation.benchmark.beir import (
    DEFAULT_SPLIT,
    Beir,
    BeirDocument,
    BeirQuery,
    read_beir,
)
from pincite.evaluation.benchmark.home import CORPUS, BenchmarkHome, open_home, settings_inside
from pincite.evaluation.benchmark.result import BenchmarkResult, InForce, Sizes
from pincite.evaluation.measures import per_query, standard
from pincite.percentiles import nearest_rank
from pincite.retrieval.request import LookupRequest, request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.retrieval.search import lines_of
from pincite.retrieval.warm import warm_up
from pincite.settings import Settings
from pincite.wiring import Report, silent

DEPTH = 10
# Recall width for each document of the ranking: several chunks may be of one document.
WIDTH = 2
# Nothing is cut for its length.
NO_BUDGET = 10_000_000

# Folders below the place of a benchmark; the first one is the source of every document.
DOCUMENTS = "documents"
HOME = "home"


@dataclass(frozen=True)
class BenchmarkRequest:
    """What to run. ``limit`` asks the first questions only, ``k`` is the length of a ranking.

    Raises:
        RequestInvalid: ``limit`` or ``k`` is no whole number from 1.
    """

    folder: Path
    split: str = DEFAULT_SPLIT
    mode: str | None = None
    limit: int | None = None
    k: int = DEPTH

    def __post_init__(self) -> None:
        for name, value in (("k", self.k), ("limit", self.limit)):
            if value is not None and value < 1:
                raise RequestInvalid(f"{name} is {value!r}, a whole number from 1 is wanted.")


async def run_benchmark(
    request: BenchmarkRequest, settings: Settings, place: Path, report: Report = silent
) -> BenchmarkResult:
    """Write the documents as files, ingest them into a home below ``place``, ask and measure.

    Args:
        request: What to run.
        settings: Those in force; of them count embedder, rag and reranker.
        place: Folder for files, home and embedding cache; what a former run left is used again.
        report: Told of files read and embedded, and with ``asked`` of questions.

    Raises:
        BenchmarkInvalid: The folder is no benchmark.
        RequestInvalid: No lookup can be asked like that.
        ServiceError: A service that ingest or lookup needs is out of reach.
    """
    beir = await asyncio.to_thread(read_beir, request.folder, request.split)
    inside = settings_inside(settings, place / HOME)
    queries = beir.queries[: request.limit]
    lookups = [_lookup(request, inside, query) for query in queries]
    await asyncio.to_thread(write_documents, beir.documents(), place / DOCUMENTS)
    async with open_home(place / DOCUMENTS, inside, report) as home:
        started = time.perf_counter()
        answers = await _ask_all(lookups, home, report)
        asked_s = time.perf_counter() - started
        return _result(request, beir, home, lookups[0], answers, asked_s)


def file_stem(document_id: str) -> str:
    """The name of a document's file: no id is too long, or the same but for its letters' case."""
    return hashlib.sha256(document_id.encode()).hexdigest()[:32]


def write_documents(documents: Iterable[BeirDocument], folder: Path) -> None:
    """Write each document as a text file, and remove files of other documents."""
    folder.mkdir(parents=True, exist_ok=True)
    left = {path.name for path in folder.iterdir()}
    for document in documents:
        path = folder / f"{file_stem(document.id)}.txt"
        path.write_text(document.content, "utf-8", newline="")
        left.discard(path.name)
    for name in left:
        (folder / name).unlink()


def _lookup(request: BenchmarkRequest, settings: Settings, query: BeirQuery) -> LookupRequest:
    """As the settings say, but one block for each of ``k`` documents, however long it takes."""
    return request_from_settings(
        settings,
        query.text,
        corpus=CORPUS,
        mode=request.mode,
        retrieve_k=max(settings.rag.recall_width, WIDTH * request.k),
        return_n=request.k,
        max_chunks_per_document=1,
        token_budget=NO_BUDGET,
        timeout_ms=PATIENT_MS,
        rerank_timeout_ms=PATIENT_MS,
    )


async def _ask_all(
    lookups: Sequence[LookupRequest], home: BenchmarkHome, report: Report
) -> list[LookupResult]:
    """One after another, as one user would."""
    parts = home.workspace.lookup_parts
    await warm_up(lookups[0], parts)
    answers = []
    for lookup in lookups:
        answers.append(await ask(lookup, parts))
        report("asked", 1)
    return answers


def measured(
    queries: Sequence[BeirQuery], answers: Sequence[LookupResult], k: int
) -> dict[str, float]:
    """Means over the questions: the usual figures at 10, or less, and recall at ``k`` beyond."""
    measures = standard(min(k, DEPTH))
    if k > DEPTH:
        measures[f"recall@{k}"] = standard(k)[f"recall@{k}"]
    relevant = [{file_stem(one): grade for one, grade in q.relevant.items()} for q in queries]
    values = per_query(relevant, [_ranked(answer) for answer in answers], measures)
    return {name: math.fsum(one[name] for one in values) / len(values) for name in measures}


def _ranked(answer: LookupResult) -> list[str]:
    """Names of the documents found, best first."""
    return [PurePosixPath(block.candidate.doc_id or "").stem for block in answer.blocks]


def _result(
    request: BenchmarkRequest,
    beir: Beir,
    home: BenchmarkHome,
    lookup: LookupRequest,
    answers: Sequence[LookupResult],
    asked_s: float,
) -> BenchmarkResult:
    latencies = sorted(answer.trace.latency_ms for answer in answers)
    codes = (f"{one.stage}/{one.code}" for a in answers for one in a.trace.degradations)
    return BenchmarkResult(
        name=beir.folder.resolve().name,
        split=beir.split,
        sizes=_sizes(beir, home, len(answers)),
        measures=measured(beir.queries[: len(answers)], answers, request.k),
        in_force=_in_force(home, lookup),
        degradations=dict(sorted(Counter(codes).items())),
        ingest_ms=round(home.ingest_s * 1000),
        asked_ms=round(asked_s * 1000),
        latency_p50_ms=nearest_rank(latencies, 50),
        latency_p95_ms=nearest_rank(latencies, 95),
    )


def _sizes(beir: Beir, home: BenchmarkHome, asked: int) -> Sizes:
    documents, embeddings = home.receipt.documents, home.receipt.embeddings
    there = sum(documents[name] for name in ("added", "updated", "unchanged", "empty"))
    failures = Counter(failure["code"] for failure in home.receipt.failures)
    return Sizes(
        documents=beir.document_count,
        empty=documents["empty"],
        missing=beir.document_count - there,
        failures=dict(sorted(failures.items())),
        chunks=home.chunks,
        judged=len(beir.queries),
        asked=asked,
        unjudged=beir.unjudged,
        computed=embeddings["computed"],
        cached=embeddings["cached"],
    )


def _in_force(home: BenchmarkHome, lookup: LookupRequest) -> InForce:
    workspace = home.workspace
    rag = workspace.settings.rag
    return InForce(
        embedder=workspace.embedder.info.space.id,
        mode=lookup.mode.value,
        reranker=rag.reranker.provider if lookup.rerank else "none",
        retrieve_k=lookup.retrieve_k,
        threshold=lines_of(lookup, workspace.embedder.info.profile).threshold,
        chunk_size=rag.ingest.chunk_size,
        chunk_overlap=rag.ingest.chunk_overlap,
    )
