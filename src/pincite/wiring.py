"""From settings to adapters, each made when it is first needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING

from pincite.errors import ConfigInvalid, EmbedderChanged
from pincite.settings import Settings, load_settings

if TYPE_CHECKING:
    from pincite.catalog.catalog import Catalog
    from pincite.chunking import Chunker, ChunkOptions
    from pincite.corpora.port import CorpusAdapter
    from pincite.documents.corpus_texts import TextsOf
    from pincite.embedding.cached import CachedEmbedder
    from pincite.embedding.port import Embedder
    from pincite.recipe import Recipe
    from pincite.retrieval.hot import HotQueries
    from pincite.retrieval.observing import Observer
    from pincite.retrieval.parts import LookupParts
    from pincite.retrieval.rerank.port import Reranker
    from pincite.store.registry import Store

# Room for the store's own limit of 65,535 bytes in a VARCHAR.
MAX_CONTENT_BYTES = 60_000

# Settings of the embedder that its configuration takes in another form, or not at all.
_NOT_AS_GIVEN = {"api_key", "batch_tokens", "timeout_ms", "price_per_million_tokens"}

Report = Callable[[str, int], None]


def silent(stage: str, amount: int) -> None:
    """Nobody watches."""


class Workspace:
    """The adapters of one home.

    ``report(stage, amount)`` is told what has been done since the last call, for progress.
    ``observer`` is told of every lookup; it is set before ``lookup_parts`` is first used.
    """

    def __init__(self, settings: Settings, report: Report = silent) -> None:
        self.settings = settings
        self.report = report
        self.observer: Observer | None = None

    @cached_property
    def catalog(self) -> Catalog:
        from pincite.catalog.catalog import Catalog

        return Catalog(self.settings.catalog_url)

    @cached_property
    def store(self) -> Store:
        from pincite.stack import running_stack
        from pincite.store.registry import StoreConfig, make_store

        stack = running_stack(self.settings.home)
        served = stack.store_uri if stack and not self.settings.store.uri else None
        return make_store(
            StoreConfig(
                uri=served or self.settings.store_uri,
                token=self.settings.store.token.get_secret_value(),
                database=self.settings.store.database,
                timeout_s=self.settings.store.timeout_ms / 1000,
            )
        )

    @cached_property
    def texts(self) -> TextsOf:
        from pincite.documents.corpus_texts import CorpusTexts
        from pincite.documents.kept import KeptTexts

        return CorpusTexts(KeptTexts(self.settings.texts_url), self.catalog.memory_texts)

    @cached_property
    def embedder(self) -> Embedder:
        from pincite.embedding.config import EmbedderConfig
        from pincite.embedding.registry import make_embedder

        given = self.settings.embedder.model_dump(exclude=_NOT_AS_GIVEN)
        key = self.settings.embedder.api_key.get_secret_value()
        return make_embedder(
            EmbedderConfig(
                **given,
                api_key=key or None,
                max_batch_tokens=self.settings.embedder.batch_tokens,
                timeout_s=self.settings.embedder.timeout_ms / 1000,
            )
        )

    @cached_property
    def passages(self) -> CachedEmbedder:
        """The embedder of passages, behind the cache."""
        from pincite.embedding.cache import VectorCache
        from pincite.embedding.cached import CachedEmbedder

        given = self.settings.cache
        cache = VectorCache(self.settings.cache_path, given.max_bytes) if given.enabled else None
        return CachedEmbedder(self.embedder, cache)

    @cached_property
    def reranker(self) -> Reranker | None:
        """The reranker, ``None`` where none is wanted.

        Raises:
            ConfigInvalid: The provider is unknown, or a setting that it needs is missing or wrong.
        """
        from pincite.retrieval.rerank.config import RerankerConfig
        from pincite.retrieval.rerank.registry import make_reranker

        given = self.settings.rag.reranker
        if not given.enabled:
            return None
        return make_reranker(
            RerankerConfig(
                provider=given.provider,
                model=given.model,
                base_url=given.base_url,
                api_key=given.api_key.get_secret_value(),
                api=given.api,
            )
        )

    @cached_property
    def chunker(self) -> Chunker:
        from pincite.chunking import WindowChunker

        return WindowChunker()

    @cached_property
    def chunk_options(self) -> ChunkOptions:
        from pincite.chunking import ChunkOptions

        ingest = self.settings.rag.ingest
        return ChunkOptions(
            size=ingest.chunk_size,
            overlap=ingest.chunk_overlap,
            max_tokens=self.embedder.info.max_tokens,
            max_bytes=MAX_CONTENT_BYTES,
        )

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe that the settings describe."""
        from pincite.recipe import Recipe

        info = self.embedder.info
        return Recipe(
            chunker=f"{self.chunker.name}/{self.chunker.version}",
            chunk_size=self.chunk_options.size,
            chunk_overlap=self.chunk_options.overlap,
            embedder=info.space.id,
            dim=info.dim,
        )

    def embedder_for(self, recipe: Recipe | None) -> Embedder:
        """The embedder of a generation: its vectors compare with no other.

        ``None`` stands for a collection that no recipe describes: the settings must fit it.

        Raises:
            EmbedderChanged: The settings name another embedder than the generation's.
        """
        if recipe is not None and self.embedder.info.space.id != recipe.embedder:
            raise EmbedderChanged(
                f"The live generation is embedded with {recipe.embedder!r}, "
                f"the settings name {self.embedder.info.space.id!r}."
            )
        return self.embedder

    @cached_property
    def corpora(self) -> dict[str, CorpusAdapter]:
        """The adapters of all corpora, by name."""
        from pincite.corpora.registry import corpus_names, make_corpus

        return {name: make_corpus(name, self.settings) for name in corpus_names()}

    @cached_property
    def hot(self) -> HotQueries:
        """What this process keeps of its latest lookups."""
        from pincite.retrieval.hot import HotQueries

        given = self.settings.rag.hot
        return HotQueries(given.vectors, given.results, given.ttl_ms)

    @cached_property
    def lookup_parts(self) -> LookupParts:
        """What lookups work with.

        Raises:
            ConfigInvalid: A foreign layout without the name of its collection.
        """
        from pincite.retrieval.knowledge import search_port
        from pincite.retrieval.parts import LookupParts
        from pincite.retrieval.retriever import LegsRetriever
        from pincite.retrieval.rollout import rollouts_of

        layout = self.settings.retrieval.vector_store
        if layout.mode != "native" and not layout.collection:
            raise ConfigInvalid(
                f"retrieval.vector-store.mode is {layout.mode!r} without a collection.",
                "Set retrieval.vector-store.collection to the name of the one to search.",
            )
        return LookupParts(
            catalog=self.catalog,
            retriever=LegsRetriever(search_port(layout.mode, self.store)),
            embedder_for=self.embedder_for,
            reranker=self.reranker,
            hot=self.hot,
            foreign="" if layout.mode == "native" else layout.collection,
            log_queries=self.settings.lookup.log_queries,
            corpora=self.corpora,
            texts=self.texts,
            rollouts=rollouts_of(self.settings),
            observer=self.observer,
        )

    async def close(self) -> None:
        """Close what was opened."""
        opened = self.__dict__
        if "lookup_parts" in opened:
            await self.lookup_parts.background.drain()
        if "store" in opened:
            await self.store.close()
        if "embedder" in opened and "passages" not in opened:
            await self.embedder.close()
        if "passages" in opened:
            await self.passages.close()
        if "reranker" in opened and self.reranker is not None:
            await self.reranker.close()
        if "catalog" in opened:
            self.catalog.close()


_current: ContextVar[Workspace | None] = ContextVar("pincite_workspace", default=None)


def current_workspace() -> Workspace:
    """The workspace of the running pipeline; steps and tasks take their adapters from it."""
    workspace = _current.get()
    if workspace is None:
        raise RuntimeError("no workspace is open; use open_workspace()")
    return workspace


@contextmanager
def using(workspace: Workspace) -> Iterator[None]:
    """Make it the current one for the block; it stays open after."""
    token = _current.set(workspace)
    try:
        yield
    finally:
        _current.reset(token)


@asynccontextmanager
async def open_workspace(
    settings: Settings | None = None, report: Report = silent
) -> AsyncIterator[Workspace]:
    """The workspace for a run: the one already open, else one from the settings in force."""
    outer = _current.get()
    if outer is not None and settings is None:
        yield outer
        return
    workspace = Workspace(settings or load_settings(), report)
    try:
        with using(workspace):
            yield workspace
    finally:
        await workspace.close()
