"""L0: which documents' metadata a phrase stands in. Hints for a query, never evidence."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Select,
    bindparam,
    select,
    union_all,
)

from pincite.catalog.database import Database
from pincite.catalog.in_lists import slices
from pincite.catalog.tables import documents, l0_terms
from pincite.errors import CatalogUnreachable

PER_PHRASE = 200
# Phrases in one statement; what a statement costs before it runs grows with them.
PHRASES_AT_ONCE = 16


@dataclass(frozen=True)
class Posting:
    """A phrase in the metadata of a document. ``category`` is the document's, as written."""

    phrase: str
    kind: str
    category: str
    doc_id: str


@dataclass(frozen=True)
class Described:
    """What a document says of itself."""

    doc_id: str
    title: str
    aliases: tuple[str, ...]
    keywords: tuple[str, ...]


class L0:
    """Document metadata in the catalogue's database, by phrase.

    A set ``kb_scope`` binds every answer to that scope; without one the excluded scopes are
    left out, as in ``pincite.scopes.label_visible``. ``timeout_s`` is looked at between
    statements, each of which reads a bounded number of rows; PostgreSQL stops the statement
    itself too.

    Raises:
        CatalogUnreachable: The database does not answer, or not in time.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def match(
        self,
        corpus: str,
        phrases: Sequence[str],
        kb_scope: str,
        exclude_scopes: Sequence[str],
        per_phrase_limit: int = PER_PHRASE,
        timeout_s: float | None = None,
    ) -> list[Posting]:
        """Where the phrases stand, in their order, at most ``per_phrase_limit`` for each.

        Args:
            corpus: The corpus.
            phrases: In the normal form of ``pincite.catalog.phrases``, without repetition.
            kb_scope: The only scope to look in; ``""``: all but the excluded.
            exclude_scopes: Scopes that are not seen without naming them.
            per_phrase_limit: A phrase with as many postings may have more.
            timeout_s: Time for all of it; ``None``: no bound.
        """
        common = {"corpus": corpus, "most": per_phrase_limit, **_scope(kb_scope, exclude_scopes)}
        statement = _ONE_SCOPE if kb_scope else _ALL_SCOPES
        found: list[Posting] = []
        with self._reader(timeout_s) as reader:
            for part in slices(list(phrases), PHRASES_AT_ONCE):
                padded = [*part, *[""] * (PHRASES_AT_ONCE - len(part))]
                terms = {f"term_{number}": phrase for number, phrase in enumerate(padded)}
                rows = reader.execute(statement, {**common, **terms})
                found += [Posting(*row) for row in rows]
        place = {phrase: number for number, phrase in enumerate(phrases)}
        return sorted(found, key=lambda one: (place[one.phrase], one.doc_id, one.kind))

    def described(
        self,
        corpus: str,
        doc_ids: Sequence[str],
        kb_scope: str,
        exclude_scopes: Sequence[str],
        timeout_s: float | None = None,
    ) -> dict[str, Described]:
        """What these documents say of themselves, by id, those in scope only."""
        query = (
            select(documents.c.doc_id, documents.c.title, documents.c.aliases, documents.c.keywords)
            .where(documents.c.corpus == corpus)
            .where(_label(documents.c.kb_scope, one_scope=bool(kb_scope)))
        )
        found: dict[str, Described] = {}
        with self._reader(timeout_s) as reader:
            for part in slices(list(doc_ids)):
                rows = reader.execute(
                    query.where(documents.c.doc_id.in_(part)), _scope(kb_scope, exclude_scopes)
                )
                found.update((row.doc_id, _described(row)) for row in rows)
        return found

    def is_empty(self, corpus: str, timeout_s: float | None = None) -> bool:
        """Whether no document of the corpus, of any scope, is found by any phrase."""
        query = select(l0_terms.c.doc_id).where(l0_terms.c.corpus == corpus).limit(1)
        with self._reader(timeout_s) as reader:
            return not list(reader.execute(query, {}))

    @contextmanager
    def _reader(self, timeout_s: float | None) -> Iterator[_Reader]:
        end = None if timeout_s is None else time.monotonic() + timeout_s
        with self._database.read(timeout_s) as connection:
            yield _Reader(connection, end)


@dataclass(frozen=True)
class _Reader:
    connection: Connection
    end: float | None

    def execute(self, statement: Any, values: dict[str, Any]) -> Sequence[Any]:
        if self.end is not None and time.monotonic() >= self.end:
            raise CatalogUnreachable("The catalogue did not answer in time.")
        return self.connection.execute(statement, values).all()


def _scope(kb_scope: str, exclude_scopes: Sequence[str]) -> dict[str, Any]:
    if kb_scope:
        return {"kb_scope": kb_scope}
    return {"excluded": [scope for scope in exclude_scopes if scope]}


def _label(column: ColumnElement[str], *, one_scope: bool) -> ColumnElement[bool]:
    """The rule of ``label_visible`` in SQL."""
    if one_scope:
        return column == bindparam("kb_scope")
    return column.not_in(bindparam("excluded", expanding=True))


def _leg(number: int, *, one_scope: bool) -> Select[Any]:
    wanted = (l0_terms.c.term, l0_terms.c.kind, l0_terms.c.category, l0_terms.c.doc_id)
    query = (
        select(*wanted)
        .where(l0_terms.c.corpus == bindparam("corpus"))
        .where(l0_terms.c.term == bindparam(f"term_{number}"))
        .where(_label(l0_terms.c.kb_scope, one_scope=one_scope))
        # The order of the primary key, so that nothing is sorted and reading ends at the limit.
        .order_by(l0_terms.c.kb_scope, l0_terms.c.doc_id, l0_terms.c.kind)
        .limit(bindparam("most"))
    )
    return select(query.subquery(f"leg_{number}"))


def _statement(*, one_scope: bool) -> CompoundSelect[Any]:
    return union_all(*(_leg(n, one_scope=one_scope) for n in range(PHRASES_AT_ONCE)))


# Built once: a statement of this size costs more to make than to run.
_ALL_SCOPES = _statement(one_scope=False)
_ONE_SCOPE = _statement(one_scope=True)


def _described(row: Any) -> Described:
    aliases, keywords = (tuple(json.loads(text)) for text in (row.aliases, row.keywords))
    return Described(row.doc_id, row.title, aliases, keywords)
