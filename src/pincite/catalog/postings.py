"""Postings: by which phrases a document is found, written with the document's L0 metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, delete

from pincite.catalog.in_lists import slices
from pincite.catalog.phrases import phrase_of
from pincite.catalog.tables import l0_terms
from pincite.scopes import ALL, ANY

CATEGORY = "category"
TITLE = "title"
ALIAS = "alias"
KEYWORD = "keyword"
TAG = "tag"

MAX_PHRASES = 64


def phrases_of(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Kind and phrase of a document's metadata, the most telling ones first, at most 64.

    A phrase that stands in several fields counts once, as the first of title, aliases, keywords
    and tags that has it. The category is a kind of its own.
    """
    kinds: dict[str, str] = {}
    for kind, text in _texts(record):
        phrase = phrase_of(text)
        if phrase:
            kinds.setdefault(phrase, kind)
    name = phrase_of(record["category"])
    named = [(CATEGORY, name)] if name else []
    return list(islice((*named, *((kind, phrase) for phrase, kind in kinds.items())), MAX_PHRASES))


def posting_rows(corpus: str, doc_id: str, record: Mapping[str, Any]) -> list[dict[str, str]]:
    """The rows of ``l0_terms`` of one document.

    None in a corpus with scope ids of its own: its documents belong to one user or session each,
    and the rows know nothing of these ids.
    """
    if corpus in ALL or corpus in ANY:
        return []
    common = {
        "corpus": corpus,
        "kb_scope": record["kb_scope"],
        "doc_id": doc_id,
        "category": record["category"],
    }
    return [{**common, "kind": kind, "term": phrase} for kind, phrase in phrases_of(record)]


def put_postings(connection: Connection, rows: Sequence[Mapping[str, str]]) -> None:
    """Inside a transaction: add rows of documents that have none."""
    if rows:
        # In the order of the key: neighbours go into one page of the database.
        connection.execute(l0_terms.insert(), sorted(rows, key=itemgetter("corpus", "term")))


def drop_postings(connection: Connection, corpus: str, doc_ids: Sequence[str]) -> None:
    """Inside a transaction: the documents are found by no phrase any more."""
    for part in slices(doc_ids):
        connection.execute(
            delete(l0_terms).where(l0_terms.c.corpus == corpus, l0_terms.c.doc_id.in_(part))
        )


def _texts(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield TITLE, record["title"]
    for kind, name in ((ALIAS, "aliases"), (KEYWORD, "keywords"), (TAG, "tags")):
        for text in record[name]:
            yield kind, text
