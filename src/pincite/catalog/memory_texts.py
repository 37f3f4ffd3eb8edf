"""The texts of memory items, content-addressed, in the catalogue's database."""

from __future__ import annotations

from sqlalchemy import Connection, select

from pincite.catalog.database import Database
from pincite.catalog.tables import memory_texts
from pincite.errors import TextCorrupt, TextNotFound
from pincite.identity import text_sha256


class MemoryTexts:
    """As ``KeptTexts``, but in SQL: what a person said lies where it can be erased."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, text: str) -> str:
        """Keep the text; returns its digest (hex SHA-256 of its UTF-8 bytes)."""
        digest = text_sha256(text)
        known = select(memory_texts.c.digest).where(memory_texts.c.digest == digest)

        def write(connection: Connection) -> str:
            if connection.execute(known).first() is None:
                connection.execute(memory_texts.insert().values(digest=digest, text=text))
            return digest

        return self._database.transact(write)

    def get(self, digest: str) -> str:
        """The text with this digest.

        Raises:
            TextNotFound: None is kept.
            TextCorrupt: What is kept is another text.
        """
        query = select(memory_texts.c.text).where(memory_texts.c.digest == digest)
        with self._database.read() as connection:
            text: str | None = connection.execute(query).scalar()
        if text is None:
            raise TextNotFound(f"No text is kept under {digest!r}.")
        if text_sha256(text) != digest:
            raise TextCorrupt(f"The text kept under {digest!r} is another one.")
        return text
