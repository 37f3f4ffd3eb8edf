"""Which generations a corpus has, and which of them is live."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from pincite.catalog.database import Database, now_ms
from pincite.catalog.revisions import bump
from pincite.catalog.tables import corpora, generations, roots
from pincite.errors import CorpusEmpty, SourceConflict
from pincite.recipe import Recipe

READY = "READY"


@dataclass(frozen=True)
class Generation:
    """One physical collection built by one recipe."""

    corpus: str
    number: int
    collection: str
    recipe: Recipe
    state: str
    gate: str
    created_at: int
    live: bool


class Generations:
    """Generations, the live one of each corpus, and the folders that sources are bound to."""

    def __init__(self, database: Database, clock: Callable[[], int] = now_ms) -> None:
        self._database = database
        self._clock = clock

    def live(self, corpus: str) -> Generation | None:
        """The generation that answers lookups now, ``None`` before the first ingest."""
        return next((one for one in self.all(corpus) if one.live), None)

    def require_live(self, corpus: str) -> Generation:
        """The live generation.

        Raises:
            CorpusEmpty: Nothing was ever ingested.
        """
        found = self.live(corpus)
        if found is None:
            raise CorpusEmpty(f"Corpus {corpus!r} holds nothing yet.")
        return found

    def all(self, corpus: str | None = None) -> list[Generation]:
        """All generations, by corpus and number."""
        live = corpora.c.live_generation == generations.c.generation
        query = (
            select(generations, corpora.c.live_generation)
            .outerjoin(corpora, (corpora.c.corpus == generations.c.corpus) & live)
            .order_by(generations.c.corpus, generations.c.generation)
        )
        if corpus is not None:
            query = query.where(generations.c.corpus == corpus)
        with self._database.read() as connection:
            return [_generation(row) for row in connection.execute(query)]

    def corpora(self) -> list[str]:
        """Names of all corpora that have a generation, sorted."""
        query = select(generations.c.corpus).distinct().order_by(generations.c.corpus)
        with self._database.read() as connection:
            return list(connection.execute(query).scalars())

    def next_number(self, corpus: str) -> int:
        query = select(func.max(generations.c.generation)).where(generations.c.corpus == corpus)
        with self._database.read() as connection:
            return (connection.execute(query).scalar() or 0) + 1

    def add_first(self, corpus: str, number: int, collection: str, recipe: Recipe) -> Generation:
        """Register a corpus's first generation and make it live, in one transaction.

        Another process may have registered it a moment before; then theirs is returned.

        Raises:
            EmbedderChanged, RecipeChanged: The other process did so with another recipe.
        """
        created_at = self._clock()
        row = {
            "corpus": corpus,
            "generation": number,
            "collection": collection,
            "recipe": recipe.to_json(),
            "state": READY,
            "gate": "",
            "created_at": created_at,
        }

        def put(connection: Connection) -> bool:
            query = select(corpora.c.live_generation).where(corpora.c.corpus == corpus)
            if connection.execute(query).scalar() is not None:
                return False
            connection.execute(generations.insert().values(**row))
            connection.execute(corpora.insert().values(corpus=corpus, live_generation=number))
            bump(connection, corpus)
            return True

        if self._database.transact(put):
            return Generation(corpus, number, collection, recipe, READY, "", created_at, live=True)
        theirs = self.require_live(corpus)
        theirs.recipe.require_same(recipe, corpus)
        return theirs

    def roots(self, corpus: str) -> dict[str, str]:
        """Source name to the folder it is bound to."""
        query = select(roots.c.source_name, roots.c.folder).where(roots.c.corpus == corpus)
        with self._database.read() as connection:
            return {row.source_name: row.folder for row in connection.execute(query)}

    def bind_root(self, corpus: str, source_name: str, folder: str) -> None:
        """Bind a source name to a folder, for good.

        Raises:
            SourceConflict: The name is bound to another folder.
        """

        def bind(connection: Connection) -> str:
            query = select(roots.c.folder).where(
                roots.c.corpus == corpus, roots.c.source_name == source_name
            )
            bound: str | None = connection.execute(query).scalar()
            if bound is None:
                row = {"corpus": corpus, "source_name": source_name, "folder": folder}
                connection.execute(roots.insert().values(**row))
            return folder if bound is None else bound

        bound = self._database.transact(bind)
        if bound != folder:
            raise SourceConflict(
                f"Source {source_name!r} of corpus {corpus!r} is {bound!r}, not {folder!r}."
            )


def _generation(row: Any) -> Generation:
    return Generation(
        corpus=row.corpus,
        number=row.generation,
        collection=row.collection,
        recipe=Recipe.from_json(row.recipe),
        state=row.state,
        gate=row.gate,
        created_at=row.created_at,
        live=row.live_generation is not None,
    )
