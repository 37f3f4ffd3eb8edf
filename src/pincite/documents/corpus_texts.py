"""Where the texts of each corpus are kept."""

from __future__ import annotations

from typing import Protocol


class Texts(Protocol):
    """Texts by the hex SHA-256 of their UTF-8 bytes.

    Raises:
        TextNotFound, TextCorrupt: ``get`` finds none, or another text.
        ServiceError: The place cannot be read or written.
    """

    def put(self, text: str) -> str: ...

    def get(self, digest: str) -> str: ...


class TextsOf(Protocol):
    """The texts of a corpus, by its name."""

    def of(self, corpus: str) -> Texts: ...


class CorpusTexts:
    """Memory in the catalogue, where a person's words can be erased; all else in the kept texts."""

    def __init__(self, kept: Texts, memory: Texts) -> None:
        self._kept = kept
        self._memory = memory

    def of(self, corpus: str) -> Texts:
        """The texts of this corpus."""
        return self._memory if corpus == "memory" else self._kept
