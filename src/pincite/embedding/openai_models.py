"""What is known about OpenAI's own embedding models, so that it need not be configured."""

from __future__ import annotations

from dataclasses import dataclass

from pincite.embedding.config import EmbedderConfig
from pincite.errors import ConfigInvalid


@dataclass(frozen=True)
class KnownModel:
    """Native width, longest input in tokens, and whether ``dimensions`` may shorten the width."""

    dim: int
    max_tokens: int
    shortens: bool


KNOWN_MODELS = {
    "text-embedding-3-small": KnownModel(1536, 8191, shortens=True),
    "text-embedding-3-large": KnownModel(3072, 8191, shortens=True),
    "text-embedding-ada-002": KnownModel(1536, 8191, shortens=False),
}
DEFAULT_MODEL = "text-embedding-3-small"
# Many open models stop at 512 tokens, and some servers cut the rest off in silence.
SAFE_MAX_TOKENS = 512


def dim_of(config: EmbedderConfig, model: str) -> int:
    """Width of the vectors.

    Raises:
        ConfigInvalid: It is neither configured nor known, or the model has another one.
    """
    known = KNOWN_MODELS.get(model)
    if known is None and config.dim is None:
        raise ConfigInvalid(
            f"The dimension of the embedding model {model!r} is not known.",
            "Set [embedder] dim to the length of the vectors that the endpoint returns.",
        )
    if known is None or config.dim is None:
        return config.dim or (known.dim if known else 0)
    if config.dim > known.dim or (config.dim != known.dim and not known.shortens):
        raise ConfigInvalid(
            f"[embedder] dim is {config.dim!r}, the model {model!r} has {known.dim}."
        )
    return config.dim


def dimensions_parameter(dim: int, model: str) -> int | None:
    """What to send as ``dimensions``; ``None`` where the parameter is needless or unsupported."""
    known = KNOWN_MODELS.get(model)
    return dim if known and known.shortens and dim != known.dim else None


def max_tokens_of(config: EmbedderConfig, model: str) -> int:
    """Longest text in tokens: as configured, as known, else ``SAFE_MAX_TOKENS``."""
    known = KNOWN_MODELS.get(model)
    return config.max_tokens or (known.max_tokens if known else SAFE_MAX_TOKENS)
