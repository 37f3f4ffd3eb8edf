"""What an ingest is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pincite.corpora.registry import require_corpus
from pincite.errors import RequestInvalid
from pincite.scopes import check_scope, scope_columns

Prune = Literal["auto", "never", "force"]
PRUNE_CHOICES: tuple[Prune, ...] = ("auto", "never", "force")
MAX_SOURCE_BYTES = 255


@dataclass(frozen=True)
class IngestRequest:
    """A folder sync. ``paths`` are folders or files; values only, so that a flow can take them.

    Raises:
        RequestInvalid: No path, an unknown corpus or prune choice, or one ``source`` name for
            several paths.
        ScopeInvalid: ``kb_scope`` is blank but not empty, or over 256 bytes.
    """

    paths: tuple[str, ...]
    corpus: str = "docs"
    source: str | None = None
    kb_scope: str = ""
    category: str = ""
    prune: Prune = "auto"

    def __post_init__(self) -> None:
        if not self.paths:
            raise RequestInvalid("No path was given.", "Name at least one folder or file.")
        require_corpus(self.corpus)
        if scope_columns(self.corpus) and (self.source is not None or self.category):
            raise RequestInvalid(
                f"Items of corpus {self.corpus!r} say themselves what they are.",
                "Leave --source and --category out.",
            )
        if self.prune not in PRUNE_CHOICES:
            choices = ", ".join(PRUNE_CHOICES)
            raise RequestInvalid(f"{self.prune!r} is no prune choice.", f"Use one of: {choices}.")
        if self.source is not None and len(self.paths) > 1:
            raise RequestInvalid(
                "One source name cannot stand for several paths.", "Ingest them one by one."
            )
        if self.source is not None and len(self.source.encode()) > MAX_SOURCE_BYTES:
            raise RequestInvalid(
                f"The source name has more than {MAX_SOURCE_BYTES} bytes.", "Shorten it."
            )
        if self.kb_scope:
            check_scope("kb_scope", self.kb_scope)
