"""Some documents as the catalogue expects them, held against their rows and kept texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pincite.catalog.catalog import Catalog
from pincite.catalog.documents import Indexed
from pincite.catalog.ledger import ExpectedChunk
from pincite.documents.corpus_texts import Texts
from pincite.errors import NotFound
from pincite.identity import evidence_key, text_sha256
from pincite.schemas.owner import NOBODY

ROW_IDENTITY = ["doc_id", "doc_version", "chunk_index"]
ROW_LABELS = ["kb_scope", "source", "expires_at"]
ROW_CONTENT = [
    *ROW_IDENTITY,
    *ROW_LABELS,
    "content",
    "content_sha256",
    "char_start",
    "char_end",
]


@dataclass
class Findings:
    """Where the parts disagree: evidence keys, or ids of rows and documents that have none.

    ``missing``: expected and not in the store. ``orphaned``: rows of documents or keys that the
    catalogue does not know. ``duplicate``: keys with several rows. ``stale``: rows of an older
    version or with another digest. ``identity``: rows whose key, span or text is not what they
    say, texts that the kept text does not bear out (the document's id: gaps or a wrong count).
    ``pending``: documents whose writing or removal has begun and is not finished.
    """

    missing: set[str] = field(default_factory=set)
    orphaned: set[str] = field(default_factory=set)
    duplicate: set[str] = field(default_factory=set)
    stale: set[str] = field(default_factory=set)
    identity: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return any(vars(self).values())

    def add(self, other: Findings) -> None:
        for name, values in vars(other).items():
            getattr(self, name).update(values)

    def as_dict(self) -> dict[str, list[str]]:
        return {name: sorted(values) for name, values in vars(self).items()}


class Comparison:
    """What is expected of some documents, and what their rows turn out to be."""

    def __init__(
        self,
        catalog: Catalog,
        corpus: str,
        held: dict[str, Indexed],
        owners: Mapping[str, Mapping[str, Any]],
        expected: Iterable[ExpectedChunk],
    ) -> None:
        self.findings = Findings()
        self.suspects: set[str] = set()
        self._catalog = catalog
        self._corpus = corpus
        self._held = held
        self._owners = owners
        self._expected = {chunk.evidence_key: chunk for chunk in expected}
        self._seen: Counter[str] = Counter()
        self._open: dict[str, frozenset[int]] = {}

    def check_numbering(self, held: Indexed, chunks: Sequence[ExpectedChunk]) -> None:
        """Indexes run from 0 without gaps, as many as were stamped."""
        indexes = [chunk.chunk_index for chunk in chunks]
        if indexes != list(range(held.chunk_count)):
            self._note("identity", held.doc_id, held.doc_id)

    def check_text(self, chunks: Sequence[ExpectedChunk], texts: Texts) -> None:
        """The kept text bears out every span."""
        text: str | None = None
        for position, chunk in enumerate(chunks):
            if position == 0 or chunk.text_digest != chunks[position - 1].text_digest:
                text = _kept(texts, chunk.text_digest)
            span = None if text is None else text[chunk.char_start : chunk.char_end]
            if span is None or text_sha256(span) != chunk.content_sha256:
                self._note("identity", chunk.evidence_key, chunk.doc_id)

    def compare(self, rows: Sequence[dict[str, Any]]) -> None:
        """Hold a page of rows against what is expected."""
        for row in rows:
            key = evidence_key(row["doc_id"], row["chunk_index"], row["vector_id"], 0)
            self._seen[key] += 1
            if self._seen[key] > 1:
                self._note("duplicate", key, row["doc_id"])
            if row["vector_id"] != key:
                self._note("identity", row["vector_id"], row["doc_id"])
            if text_sha256(row["content"]) != row["content_sha256"]:
                self._note("identity", key, row["doc_id"])
            self._compare_row(row, key)

    def _compare_row(self, row: dict[str, Any], key: str) -> None:
        doc_id, chunk = row["doc_id"], self._expected.get(key)
        if row["doc_version"] in self._being_written(row, chunk):
            self._note("pending", doc_id, doc_id)
        elif chunk is None:
            held = self._held.get(doc_id)
            older = held is not None and row["doc_version"] < held.version
            self._note("stale" if older else "orphaned", row["vector_id"], doc_id)
        elif _said(row) != (chunk.version, chunk.content_sha256):
            self._note("stale", key, doc_id)
        elif not (_spans(row, chunk) and self._labelled(row)):
            self._note("identity", key, doc_id)

    def _labelled(self, row: dict[str, Any]) -> bool:
        """The row says scope, source, owner and expiry that the document was stamped with."""
        held = self._held[row["doc_id"]]
        owner = {**NOBODY, **self._owners.get(row["doc_id"], {})}
        belongs = {name: row[name] for name in NOBODY if name in row}
        return (row["kb_scope"], row["source"]) == (held.kb_scope, held.source) and all(
            owner[name] == value for name, value in belongs.items()
        )

    def _being_written(self, row: dict[str, Any], chunk: ExpectedChunk | None) -> frozenset[int]:
        doc_id = row["doc_id"]
        if chunk is not None and _said(row) == (chunk.version, chunk.content_sha256):
            return frozenset()
        if doc_id not in self._open:
            self._open[doc_id] = self._catalog.journal.open_versions(self._corpus, doc_id)
        return self._open[doc_id]

    def close(self) -> None:
        """All rows are compared: what was expected and did not come is missing."""
        for key, chunk in self._expected.items():
            if key not in self._seen:
                self._note("missing", key, chunk.doc_id)

    def _note(self, kind: str, what: str, doc_id: str) -> None:
        getattr(self.findings, kind).add(what)
        self.suspects.add(doc_id)


def _spans(row: dict[str, Any], chunk: ExpectedChunk) -> bool:
    return (row["char_start"], row["char_end"]) == (chunk.char_start, chunk.char_end)


def _said(row: dict[str, Any]) -> tuple[int, str]:
    return row["doc_version"], row["content_sha256"]


def _kept(texts: Texts, digest: str) -> str | None:
    try:
        return texts.get(digest)
    except NotFound:
        return None
