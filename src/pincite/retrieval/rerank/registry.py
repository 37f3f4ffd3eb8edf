"""From a configuration to a reranker; an adapter is imported only when it is chosen."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from pincite.errors import ConfigInvalid
from pincite.retrieval.rerank.config import RerankerConfig
from pincite.retrieval.rerank.port import Reranker


def _none(config: RerankerConfig) -> None:
    return None


def _blend(config: RerankerConfig) -> Reranker:
    from pincite.retrieval.rerank.blend import BlendReranker

    return BlendReranker()


def _http(config: RerankerConfig) -> Reranker:
    from pincite.retrieval.rerank.http import HttpReranker

    return HttpReranker(config)


def _openai(config: RerankerConfig) -> Reranker:
    from pincite.retrieval.rerank.openai import OpenAIReranker

    return OpenAIReranker(config)


PROVIDERS: dict[str, Callable[[RerankerConfig], Reranker | None]] = {
    "none": _none,
    "blend": _blend,
    "http": _http,
    "openai": _openai,
}


def make_reranker(config: RerankerConfig) -> Reranker | None:
    """The reranker that the configuration names, ``None`` for the provider ``none``.

    Raises:
        ConfigInvalid: The provider is unknown, or a key that it needs is missing or wrong.
    """
    factory = PROVIDERS.get(config.provider)
    if factory is None:
        near = difflib.get_close_matches(config.provider, PROVIDERS, n=1, cutoff=0.0)[0]
        raise ConfigInvalid(
            f"Reranker provider {config.provider!r} is unknown; the nearest one is {near!r}.",
            f"Set [rag.reranker] provider to one of {', '.join(map(repr, PROVIDERS))}.",
        )
    return factory(config)
