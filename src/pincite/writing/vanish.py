"""Which documents a sync has seen, which of the held ones have no file any more."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from pincite.catalog.documents import Indexed
from pincite.errors import IdentityConflict, PruneRefused
from pincite.schemas.notices import NOTICES, failure
from pincite.writing.found import Extent
from pincite.writing.request import IngestRequest

# A sync that would delete more than this many and more than half of a source asks first.
PRUNE_FREELY = 10


@dataclass
class Seen:
    """Which file gave which document in this run."""

    # Of items the last one counts, whatever came before: their corpora know no conflict.
    replaces: bool = False
    source_by_id: dict[str, str] = field(default_factory=dict)
    read_sources: set[str] = field(default_factory=set)

    def take(self, documents: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Documents whose id no other file of this run gave, and notices of the others.

        The first file, in order of its source, keeps the id. An item that came before in this
        run is left for its end: two writes of one document must not cross.
        """
        kept, notices = [], []
        ids, sources = documents["doc_id"].to_pylist(), documents["source"].to_pylist()
        for position, (doc_id, source) in enumerate(zip(ids, sources, strict=True)):
            if doc_id in self.source_by_id and self.replaces:
                continue
            if doc_id in self.source_by_id:
                notices.append(failure(doc_id, source, self._conflict(doc_id, source)))
            else:
                self.source_by_id[doc_id] = source
                self.read_sources.add(source)
                kept.append(position)
        return documents.take(pa.array(kept, pa.int64())), NOTICES.from_rows(notices)

    def _conflict(self, doc_id: str, source: str) -> IdentityConflict:
        first = self.source_by_id[doc_id]
        if first == source:
            return IdentityConflict(
                f"Two files are both {source!r} after Unicode normalisation (NFC).",
                "Rename one of the two.",
            )
        return IdentityConflict(f"{first!r} and {source!r} both give document id {doc_id!r}.")

    def vanished(self, held: list[Indexed], extent: Extent) -> list[str]:
        """Ids of held documents whose file is gone, or gives another id now."""
        return [
            one.doc_id
            for one in held
            if one.source.startswith(extent.prefix)
            and one.doc_id not in self.source_by_id
            and (one.source not in extent.present or one.source in self.read_sources)
        ]


def may_prune(request: IngestRequest, extent: Extent) -> bool:
    """Whether the sync has seen enough of the source to tell what vanished."""
    return request.prune != "never" and extent.prunable


def refusal(
    request: IngestRequest, extent: Extent, vanished: int, held: int
) -> PruneRefused | None:
    """Why deleting so many of a source's documents wants a word from a person first."""
    if request.prune == "force" or vanished <= PRUNE_FREELY or vanished * 2 <= held:
        return None
    return PruneRefused(
        f"{vanished} of the {held} documents of source {extent.source_name!r} have no file any"
        " more; deleting them was refused."
    )
