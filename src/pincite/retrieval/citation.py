"""From an evidence key to the text that it names or named."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pincite.catalog.catalog import Catalog
from pincite.catalog.documents import Version
from pincite.catalog.ledger import LedgerEntry
from pincite.documents.corpus_texts import TextsOf
from pincite.documents.record import OWNER
from pincite.errors import EvidenceAmbiguous, EvidenceLost, EvidenceNotFound, NotFound
from pincite.identity import text_sha256
from pincite.retrieval.source_state import UNKNOWN, SourceDigest, source_digests, source_state
from pincite.scopes import (
    DEFAULT_EXCLUDED,
    check_scope,
    corpus_scopes,
    label_visible,
    owner_visible,
    scope_columns,
)

CURRENT = "current"
SUPERSEDED = "superseded"
ERASED = "erased"


@dataclass(frozen=True)
class Now:
    """What the key names now."""

    text: str
    content_sha256: str


@dataclass(frozen=True)
class Citation:
    """The text that a key names (or named, by ``state``) and where it stands.

    Spans count characters of the kept text, which ``text_digest`` names; ``generation`` is the one
    whose ledger says so.
    """

    evidence_key: str
    corpus: str
    doc_id: str
    chunk_index: int
    text: str
    source: str
    title: str
    heading: str
    char_start: int
    char_end: int
    content_sha256: str
    generation: int
    state: str
    current: Now | None
    source_state: str
    text_digest: str

    def as_dict(self) -> dict[str, Any]:
        """The JSON document; every key is always there."""
        now = None if self.current is None else vars(self.current)
        shown = {name: value for name, value in vars(self).items() if name != "text_digest"}
        return {**shown, "current": now}

    def to_json(self) -> str:
        """One JSON document, characters as they are."""
        return json.dumps(self.as_dict(), ensure_ascii=False)


def cite(
    key: str,
    catalog: Catalog,
    texts: TextsOf,
    *,
    corpus: str | None = None,
    corpora: Sequence[str] | None = None,
    sha256: str | None = None,
    kb_scope: str | None = None,
    scope_ids: Mapping[str, str | None] = MappingProxyType({}),
    exclude_scopes: Sequence[str] = DEFAULT_EXCLUDED,
    source_digest: SourceDigest | None = None,
) -> Citation:
    """Resolve an evidence key; blocks, so asynchronous callers run it in a thread.

    Without ``sha256`` the key's text now is meant, else its last one. With it, the text of this
    digest, also while the version that brings it is still being written.

    Args:
        key: The evidence key.
        catalog: Where the ledger is.
        texts: The kept texts.
        corpus: The only corpus to look in; ``None``: all that the reader may see.
        corpora: Corpora that the reader may see; ``None``: all.
        sha256: Digest of the whole chunk as it was given.
        kb_scope: The only scope to look in; ``None`` or ``""``: all but the excluded.
        scope_ids: The reader's ids, which evidence of ``memory`` and ``web`` must belong to.
        exclude_scopes: Scopes that are not seen without naming them.
        source_digest: What the source gives now; default: files of synced folders, memory items.

    Raises:
        EvidenceNotFound: The key never named such a text, or none in this scope.
        EvidenceAmbiguous: Several corpora hold the key.
        EvidenceLost: The kept text is gone or damaged.
        ScopeRequired: The corpus is named and needs an id that is not given.
        ScopeInvalid: A scope is blank or too long.
    """
    scope = check_scope("kb_scope", kb_scope) if kb_scope else ""
    reader = _Reader(corpora, scope, exclude_scopes, scope_ids)
    if corpus is not None:
        corpus_scopes(corpus, scope_ids)
    desk = _Desk(catalog, texts, source_digest or source_digests(catalog))
    seen = [e for e in catalog.ledger.entries(key, corpus) if desk.visible(e, reader)]
    digest = None if sha256 is None else sha256.strip().lower()
    asked = [entry for entry in seen if digest is None or entry.content_sha256 == digest]
    corpora = sorted({entry.corpus for entry in asked})
    if len(corpora) > 1:
        raise EvidenceAmbiguous(f"Corpora {', '.join(map(repr, corpora))} hold {key!r}.")
    history = _History(catalog, [entry for entry in seen if entry.corpus in corpora])
    entry = history.meant(asked, exact=digest is not None)
    if entry is None:
        raise EvidenceNotFound(f"No evidence is known under {key!r}{_asked(corpus, sha256)}.")
    return desk.citation(entry, history.state(entry), history.standing)


def _asked(corpus: str | None, sha256: str | None) -> str:
    where = f" in corpus {corpus!r}" if corpus else ""
    return where + (f" with digest {sha256!r}" if sha256 else "")


@dataclass(frozen=True)
class _Reader:
    """What somebody may see."""

    corpora: Sequence[str] | None
    kb_scope: str
    exclude_scopes: Sequence[str]
    scope_ids: Mapping[str, str | None]


class _History:
    """Everything that one key of one corpus has named, as far as the reader may see it.

    ``standing`` is the entry at the stamped version of the live generation.
    """

    def __init__(self, catalog: Catalog, entries: Sequence[LedgerEntry]) -> None:
        self.standing: LedgerEntry | None = None
        self._in_writing: list[LedgerEntry] = []
        generation = catalog.generations.live(entries[0].corpus) if entries else None
        if generation is None:
            return
        corpus, doc_id = entries[0].corpus, entries[0].doc_id
        held = catalog.documents.held(corpus, generation.number, [doc_id]).get(doc_id)
        being_written = catalog.journal.open_versions(corpus, doc_id)
        here = [entry for entry in entries if entry.generation == generation.number]
        self._in_writing = [entry for entry in here if entry.version in being_written]
        if held is not None:
            self.standing = next((e for e in here if e.version == held.version), None)

    def meant(self, asked: Sequence[LedgerEntry], *, exact: bool) -> LedgerEntry | None:
        """The one that is cited: what stands now, else by its digest what is being written.

        Then what stood last. A version that was never stamped may have been seen for a moment,
        before its writer was killed: it is cited only by its digest.
        """
        stamped = [entry for entry in asked if entry.stamped]
        writing = [entry for entry in asked if entry in self._in_writing]
        ranked = [*writing, *stamped, *asked] if exact else [*stamped, *writing]
        return self.standing if self.standing in asked else next(iter(ranked), None)

    def state(self, entry: LedgerEntry) -> str:
        """``current``, ``superseded`` or ``erased``."""
        if entry.erased:
            return ERASED
        return CURRENT if entry == self.standing or entry in self._in_writing else SUPERSEDED


class _Desk:
    """Puts a citation together; remembers the versions that it has looked up."""

    def __init__(self, catalog: Catalog, texts: TextsOf, source_digest: SourceDigest) -> None:
        self._catalog = catalog
        self._texts = texts
        self._source_digest = source_digest
        self._versions: dict[tuple[str, str, int], Version | None] = {}

    def visible(self, entry: LedgerEntry, reader: _Reader) -> bool:
        if reader.corpora is not None and entry.corpus not in reader.corpora:
            return False
        version = self._version(entry)
        if version is None:
            # Nobody can say whose it was; only that it is erased may be told, to no set scope.
            return entry.erased and not reader.kb_scope and not scope_columns(entry.corpus)
        label = str(version.record.get("kb_scope", ""))
        return label_visible(label, reader.kb_scope, reader.exclude_scopes) and owner_visible(
            version.record.get(OWNER, {}), entry.corpus, reader.scope_ids
        )

    def citation(self, entry: LedgerEntry, state: str, standing: LedgerEntry | None) -> Citation:
        version = self._version(entry)
        text = "" if state == ERASED else self._text(entry)
        record = version.record if version is not None else {}
        return Citation(
            evidence_key=entry.evidence_key,
            corpus=entry.corpus,
            doc_id=entry.doc_id,
            chunk_index=entry.chunk_index,
            text=text,
            source=str(record.get("source", "")),
            title=str(record.get("title", "")),
            heading=entry.heading,
            char_start=entry.char_start,
            char_end=entry.char_end,
            content_sha256=entry.content_sha256,
            generation=entry.generation,
            state=state,
            current=self._now(entry, state, text, standing),
            source_state=self._source_state(entry.corpus, version),
            text_digest=entry.text_digest,
        )

    def _now(
        self, entry: LedgerEntry, state: str, text: str, standing: LedgerEntry | None
    ) -> Now | None:
        if state == CURRENT:
            return Now(text, entry.content_sha256)
        if standing is None or standing.erased:
            return None
        return Now(self._text(standing), standing.content_sha256)

    def _text(self, entry: LedgerEntry) -> str:
        try:
            kept = self._texts.of(entry.corpus).get(entry.text_digest)
        except NotFound as exc:
            raise EvidenceLost(
                f"The kept text of {entry.evidence_key!r}, version {entry.version}, is lost."
            ) from exc
        text = kept[entry.char_start : entry.char_end]
        if text_sha256(text) != entry.content_sha256:
            raise EvidenceLost(
                f"The kept text of {entry.evidence_key!r}, version {entry.version}, "
                "does not hold what the ledger says."
            )
        return text

    def _source_state(self, corpus: str, version: Version | None) -> str:
        if version is None:
            return UNKNOWN
        return source_state(version.raw_sha256, self._source_digest(corpus, version.record))

    def _version(self, entry: LedgerEntry) -> Version | None:
        name = (entry.corpus, entry.doc_id, entry.version)
        if name not in self._versions:
            self._versions[name] = self._catalog.documents.version(*name)
        return self._versions[name]
