"""Reads a benchmark in the layout of BEIR (Thakur et al., 2021).

A folder with ``corpus.jsonl`` (``_id``, ``title`` if it has one, ``text``), ``queries.jsonl``
(``_id``, ``text``) and ``qrels/<split>.tsv`` or ``qrels.tsv``: query, document and grade between
tabs, with a header line or without.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pincite.errors import BenchmarkInvalid

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
JUDGEMENTS = "qrels"
DEFAULT_SPLIT = "test"
# No more digits than every reader of such files can count.
_GRADE = re.compile(r"[0-9]{1,9}")
_SHOWN = 80
_COLUMNS = 3

Grades = dict[str, int]


@dataclass(frozen=True)
class BeirDocument:
    """A document; ``title`` is ``""`` where it has none, ``text`` may be blank."""

    id: str
    title: str
    text: str

    @property
    def content(self) -> str:
        """The title, a blank line, and the text; only one of them where the other is blank."""
        return "\n\n".join(part for part in (self.title, self.text) if part.strip())


@dataclass(frozen=True)
class BeirQuery:
    """A question with the grades, from 1, of the documents that answer it; at least one."""

    id: str
    text: str
    relevant: Mapping[str, int]


@dataclass(frozen=True)
class Beir:
    """A checked benchmark: its questions in the order of their file, documents by streaming.

    ``unjudged`` counts the questions that have no judgement above 0 in this split.
    """

    folder: Path
    split: str
    document_count: int
    queries: tuple[BeirQuery, ...]
    unjudged: int

    def documents(self) -> Iterator[BeirDocument]:
        """The documents in the order of their file, one at a time; see ``read_beir`` for errors."""
        return _documents(self.folder / CORPUS)


def read_beir(folder: Path, split: str = DEFAULT_SPLIT) -> Beir:
    """Read a benchmark and check it whole; of the documents only the ids stay in memory.

    Raises:
        BenchmarkInvalid: A file is missing, is not UTF-8, does not parse or lacks a key, an id
            stands twice, a judgement is about nothing or has no grade, or nothing is judged.
            The message names file and line.
    """
    documents = {document.id for document in _documents(folder / CORPUS)}
    if not documents:
        raise BenchmarkInvalid(f"{str(folder / CORPUS)!r} holds no document.")
    texts = _queries(folder / QUERIES)
    path = _judgement_file(folder, split)
    grades = _judgements(path, texts, documents)
    queries = tuple(BeirQuery(one, texts[one], grades[one]) for one in texts if one in grades)
    if not queries:
        raise BenchmarkInvalid(f"{str(path)!r} judges no question above 0.")
    return Beir(folder, split, len(documents), queries, len(texts) - len(queries))


def _documents(path: Path) -> Iterator[BeirDocument]:
    for number, row in _objects(path):
        title = _text(path, number, row, "title") if row.get("title") is not None else ""
        yield BeirDocument(row["_id"], title, _text(path, number, row, "text"))


def _queries(path: Path) -> dict[str, str]:
    """Texts by id, in the order of the file."""
    texts: dict[str, str] = {}
    for number, row in _objects(path):
        text = _text(path, number, row, "text")
        if not text.strip():
            raise _invalid(path, number, "the question is blank")
        texts[row["_id"]] = text
    return texts


def _judgement_file(folder: Path, split: str) -> Path:
    of_split, alone = folder / JUDGEMENTS / f"{split}.tsv", folder / f"{JUDGEMENTS}.tsv"
    if of_split.is_file():
        return of_split
    if alone.is_file() and split == DEFAULT_SPLIT:
        return alone
    there = sorted(path.stem for path in (folder / JUDGEMENTS).glob("*.tsv"))
    known = f"There are: {', '.join(there)}." if there else f"Give qrels/{split}.tsv."
    raise BenchmarkInvalid(f"{str(folder)!r} has no judgements for the split {split!r}.", known)


def _judgements(
    path: Path, queries: Collection[str], documents: Collection[str]
) -> dict[str, Grades]:
    """Grades above 0 by question and document."""
    seen: dict[str, Grades] = defaultdict(dict)
    for at, (number, line) in enumerate(_lines(path)):
        cells = line.split("\t")
        if len(cells) != _COLUMNS:
            raise _invalid(path, number, f"{len(cells)} columns between tabs, {_COLUMNS} wanted")
        query, document, given = cells
        known = query in queries, document in documents
        if at == 0 and not _GRADE.fullmatch(given) and not any(known):
            continue  # The header.
        for name, value, is_known in zip(("question", "document"), cells, known, strict=False):
            if not is_known:
                raise _invalid(path, number, f"there is no {name} {_short(value)!r}")
        _add(path, number, seen[query], document, given)
    above = {query: {d: g for d, g in grades.items() if g} for query, grades in seen.items()}
    return {query: grades for query, grades in above.items() if grades}


def _add(path: Path, number: int, grades: Grades, document: str, given: str) -> None:
    if not _GRADE.fullmatch(given):
        raise _invalid(path, number, f"the grade {_short(given)!r} is no whole number from 0")
    if grades.setdefault(document, int(given)) != int(given):
        raise _invalid(path, number, f"document {_short(document)!r} has another grade above")


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line's number and JSON object, with an ``_id`` of its own."""
    seen: set[str] = set()
    for number, line in _lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise _invalid(path, number, "this is not JSON") from exc
        if not isinstance(row, dict):
            raise _invalid(path, number, "this is no JSON object")
        name = _text(path, number, row, "_id")
        if not name or name in seen:
            what = f"the _id {_short(name)!r} stands twice" if name else "the _id is empty"
            raise _invalid(path, number, what)
        seen.add(name)
        yield number, row


def _text(path: Path, number: int, row: Mapping[str, Any], key: str) -> str:
    if key not in row:
        raise _invalid(path, number, f"{key!r} is missing")
    text = row[key]
    if not isinstance(text, str):
        raise _invalid(path, number, f"{key!r} is no text")
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise _invalid(path, number, f"{key!r} is not valid Unicode") from exc
    return text


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers from 1; only LF and CRLF end one."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                text = _decoded(path, number, line).rstrip("\r\n")
                if text.strip():
                    yield number, text
    except OSError as exc:
        raise BenchmarkInvalid(f"{str(path)!r} cannot be read: {exc.strerror}.") from exc


def _decoded(path: Path, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as exc:
        raise _invalid(path, number, "this is not UTF-8") from exc


def _invalid(path: Path, number: int, what: str) -> BenchmarkInvalid:
    return BenchmarkInvalid(f"{str(path)!r}, line {number}: {what}.", "Correct the file.")


def _short(value: str) -> str:
    return value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
