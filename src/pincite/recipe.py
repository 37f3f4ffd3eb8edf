"""The recipe of a generation: everything that decides what its rows look like."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from pincite.errors import EmbedderChanged, RecipeChanged

# 2: rows carry their terms for full-text search.
ROW_SCHEMA_VERSION = 2
EMBEDDED_TEXT = "content"


@dataclass(frozen=True)
class Recipe:
    """Chunker and its settings, embedder, row schema; frozen for a generation's whole life."""

    chunker: str
    chunk_size: int
    chunk_overlap: int
    embedder: str
    dim: int
    row_schema: int = ROW_SCHEMA_VERSION
    embedded_text: str = EMBEDDED_TEXT

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        return cls(**json.loads(text))

    def require_same(self, wanted: Recipe, corpus: str) -> None:
        """Refuse to write into a generation of this recipe with another one.

        Raises:
            EmbedderChanged: The vectors would not be comparable.
            RecipeChanged: The chunks would be cut in another way.
        """
        if (wanted.embedder, wanted.dim) != (self.embedder, self.dim):
            raise EmbedderChanged(
                f"Corpus {corpus!r} is embedded with {self.embedder!r}, "
                f"the settings name {wanted.embedder!r}."
            )
        if wanted != self:
            raise RecipeChanged(
                f"Corpus {corpus!r} is cut by {self.cut()}, the settings say {wanted.cut()}."
            )

    def cut(self) -> str:
        """How documents are cut, in words."""
        return (
            f"{self.chunker} with {self.chunk_size} tokens and {self.chunk_overlap} overlap "
            f"(row schema {self.row_schema}, embedding {self.embedded_text})"
        )


def fingerprint(recipe: Recipe, text_digest: str, record: str) -> str:
    """What decides whether a document must be written again.

    Covers the kept text, the kept metadata (``record``, canonical JSON) and the recipe;
    nothing volatile such as a file's time.
    """
    parts = "\0".join((recipe.to_json(), text_digest, record))
    return hashlib.sha256(parts.encode("utf-8")).hexdigest()
