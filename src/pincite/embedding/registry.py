"""From a configuration to an embedder; a provider's package is imported only when it is chosen."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from pincite.embedding.config import EmbedderConfig
from pincite.embedding.port import Embedder
from pincite.errors import ConfigInvalid


def _hash(config: EmbedderConfig) -> Embedder:
    from pincite.embedding.hash import HashEmbedder

    return HashEmbedder.from_config(config)


def _local(config: EmbedderConfig) -> Embedder:
    from pincite.embedding.local import LocalEmbedder

    return LocalEmbedder.from_config(config)


def _openai(config: EmbedderConfig) -> Embedder:
    from pincite.embedding.openai import OpenAIEmbedder

    return OpenAIEmbedder(config)


def _fastembed(config: EmbedderConfig) -> Embedder:
    from pincite.embedding.fastembed import FastEmbedEmbedder

    return FastEmbedEmbedder(config)


PROVIDERS: dict[str, Callable[[EmbedderConfig], Embedder]] = {
    "local": _local,
    "openai": _openai,
    "fastembed": _fastembed,
    "hash": _hash,
}


def make_embedder(config: EmbedderConfig) -> Embedder:
    """The embedder that the configuration names.

    Raises:
        ConfigInvalid: The provider is unknown, or a key that it needs is missing or wrong.
        ExtraMissing: The provider's package is not installed.
    """
    factory = PROVIDERS.get(config.provider)
    if factory is None:
        raise ConfigInvalid(f"Embedder provider {config.provider!r} is unknown.", _known(config))
    return factory(config)


def _known(config: EmbedderConfig) -> str:
    near = difflib.get_close_matches(config.provider, PROVIDERS, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"Set [embedder] provider to one of {', '.join(map(repr, PROVIDERS))}{hint}."
