"""What a lookup works with, and what it pins at its start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pincite.catalog.catalog import Catalog
from pincite.catalog.database import now_ms
from pincite.corpora.port import CorpusAdapter
from pincite.documents.corpus_texts import TextsOf
from pincite.embedding.port import Embedder, ScoreProfile
from pincite.recipe import Recipe
from pincite.retrieval.background import Background
from pincite.retrieval.catalog_view import CatalogView
from pincite.retrieval.hot import HotQueries
from pincite.retrieval.observing import Observer
from pincite.retrieval.rerank.port import Reranker
from pincite.retrieval.retriever import Retriever
from pincite.retrieval.rollout import Rollouts


@dataclass(frozen=True)
class LookupParts:
    """The adapters of a lookup.

    ``embedder_for`` gives the embedder of a generation's recipe, or that of the settings for
    ``None``. ``foreign`` is the collection that is searched instead of the catalogue's generations,
    ``""`` = none. ``log_queries`` lets the text of queries into the lookup log. ``corpora`` are
    the adapters by name, ``texts`` what the legacy path reads, ``rollouts`` say where it answers;
    a corpus that is in none of them has the core alone. ``clock`` is epoch ms, UTC. ``observer``
    is told of every lookup.
    """

    catalog: Catalog
    retriever: Retriever
    embedder_for: Callable[[Recipe | None], Embedder]
    reranker: Reranker | None = None
    hot: HotQueries = field(default_factory=HotQueries)
    foreign: str = ""
    log_queries: bool = False
    corpora: Mapping[str, CorpusAdapter] = field(default_factory=dict)
    texts: TextsOf | None = None
    rollouts: Rollouts = field(default_factory=dict)
    clock: Callable[[], int] = now_ms
    background: Background = field(default_factory=Background)
    observer: Observer | None = None
    view: CatalogView = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "view", CatalogView(self.catalog))


@dataclass(frozen=True)
class Pinned:
    """What a lookup searches in one corpus, read once at its start.

    ``generation`` and ``recipe`` are ``None`` for a foreign collection. ``revision`` grows with
    every change of the corpus. ``space`` names the vector space, ``profile`` has its lines.
    """

    corpus: str
    generation: int | None
    collection: str
    recipe: Recipe | None
    revision: int
    space: str
    profile: ScoreProfile
