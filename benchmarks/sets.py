"""The sets that quality is measured on: files to ingest, questions, and what answers them."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from retrieval_measures import Span


@dataclass(frozen=True)
class Query:
    """A question with its relevant files and their grades, or with its gold spans."""

    text: str
    relevant: Mapping[str, int] = field(default_factory=dict)
    gold: tuple[Span, ...] = ()


@dataclass(frozen=True)
class QualitySet:
    """``files`` are texts by relative path; ``groups`` name what belongs together, by path."""

    name: str
    title: str
    files: Mapping[str, str]
    queries: tuple[Query, ...]
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_spans(self) -> bool:
        """Whether it asks for spans of long texts, not for documents."""
        return bool(self.queries[0].gold)


def load_set(name: str, data: Path) -> QualitySet:
    """The set of this name from the data folder.

    Raises:
        FileNotFoundError: The data folder does not hold it.
    """
    return _LOADERS[name](name, data)


def write_files(quality_set: QualitySet, folder: Path) -> None:
    """Write the texts, each exactly as it is."""
    for path, text in quality_set.files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", newline="")


@dataclass(frozen=True)
class _Folder:
    """A folder with ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv``."""

    title: str
    path: str
    suffix: str = ""
    with_title: bool = False


def _documents(folder: _Folder, name: str, data: Path) -> QualitySet:
    place = data / folder.path
    rows = list(_lines(place / "corpus.jsonl"))
    judged = _judgements(place / "qrels.tsv", folder.suffix)
    return QualitySet(
        name,
        folder.title,
        {row["_id"] + folder.suffix: _text(row, folder) for row in rows},
        tuple(
            Query(one["text"], judged[one["_id"]])
            for one in _lines(place / "queries.jsonl")
            if one["_id"] in judged
        ),
        {row["_id"] + folder.suffix: row["title"] for row in rows},
    )


def _text(row: Mapping[str, Any], folder: _Folder) -> str:
    text: str = row["text"]
    return f"{row['title']}\n\n{text}" if folder.with_title else text


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _judgements(path: Path, suffix: str) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            judged[row["query-id"]][row["corpus-id"] + suffix] = int(row["score"])
    return judged


def _long_texts(name: str, data: Path) -> QualitySet:
    place = data / "chunking_evaluation"
    texts = {path.name: path.read_bytes().decode() for path in (place / "corpora").glob("*.md")}
    with (place / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        queries = tuple(_question(row) for row in csv.DictReader(file))
    return QualitySet(name, "chunking_evaluation", dict(sorted(texts.items())), queries)


def _question(row: Mapping[str, str]) -> Query:
    path = f"{row['corpus_id']}.md"
    gold = (Span(path, g["start_index"], g["end_index"]) for g in json.loads(row["references"]))
    return Query(row["question"], gold=tuple(gold))


_FOLDERS = {
    "scifact": _Folder("SciFact", "scifact", ".txt", with_title=True),
    "xquad-zh": _Folder("XQuAD zh", "xquad/beir-zh", ".txt"),
    "xquad-en": _Folder("XQuAD en", "xquad/beir-en", ".txt"),
    "hugo": _Folder("hugoDocs, known item", "docs_known_item/hugoDocs"),
    "milvus-zh": _Folder("milvus-v2.0-zh, known item", "docs_known_item/milvus-v2.0-zh"),
}
_LOADERS: dict[str, Callable[[str, Path], QualitySet]] = {
    **{name: partial(_documents, folder) for name, folder in _FOLDERS.items()},
    "chunking": _long_texts,
}
SETS = tuple(_LOADERS)
