"""The sets that quality is measured on: files to ingest, questions, and what answers them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from retrieval_measures import Span

from pincite.evaluation.benchmark.beir import BeirDocument, read_beir


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
    """A folder in the layout of BEIR, and how its documents become files."""

    title: str
    path: str
    suffix: str = ""
    with_title: bool = False


def _documents(folder: _Folder, name: str, data: Path) -> QualitySet:
    beir = read_beir(data / folder.path)
    documents = {one.id + folder.suffix: one for one in beir.documents()}
    queries = ({d + folder.suffix: g for d, g in q.relevant.items()} for q in beir.queries)
    return QualitySet(
        name,
        folder.title,
        {path: _text(one, folder) for path, one in documents.items()},
        tuple(Query(q.text, grades) for q, grades in zip(beir.queries, queries, strict=True)),
        {path: one.title for path, one in documents.items()},
    )


def _text(document: BeirDocument, folder: _Folder) -> str:
    return document.content if folder.with_title else document.text


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
