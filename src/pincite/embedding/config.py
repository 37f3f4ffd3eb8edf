"""What an embedder is built from: a plain value that the settings are mapped onto."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pincite.errors import ConfigInvalid


@dataclass(frozen=True)
class EmbedderConfig:
    """Everything that any embedder can be told; ``None`` and ``""`` mean its own default.

    Attributes:
        provider: Key of ``registry.PROVIDERS``.
        model: Model name as the provider spells it.
        base_url: Root of an OpenAI-compatible endpoint, with its ``/v1``.
        api_key: Secret of that endpoint; never shown in ``repr``.
        revision: Revision of the model, part of the vector space.
        dim: Width of a vector.
        batch_size: Texts per request.
        max_batch_tokens: Tokens per request.
        concurrency: Requests at a time.
        max_tokens: Longest text in tokens.
        timeout_s: Seconds for one attempt of a request.
        max_retries: Attempts after the first one.
        passage_prefix: Put before every passage.
        query_prefix: Put before every query.
        tokenizer_file: A Hugging Face ``tokenizer.json`` that counts the model's tokens.
        model_dir: Folder with model files (or the cache of downloaded ones).
        offline: Never download model files.
    """

    provider: str = "local"
    model: str = ""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    revision: str = ""
    dim: int | None = None
    batch_size: int | None = None
    max_batch_tokens: int | None = None
    concurrency: int | None = None
    max_tokens: int | None = None
    timeout_s: float = 30.0
    max_retries: int = 4
    passage_prefix: str | None = None
    query_prefix: str | None = None
    tokenizer_file: Path | None = None
    model_dir: Path | None = None
    offline: bool = False

    def __post_init__(self) -> None:
        for key in ("dim", "batch_size", "max_batch_tokens", "concurrency", "max_tokens"):
            _require_at_least(key, getattr(self, key), 1)
        _require_at_least("max_retries", self.max_retries, 0)
        if not self.timeout_s > 0:
            raise ConfigInvalid(f"[embedder] timeout is {self.timeout_s!r}, it must be above 0.")


def _require_at_least(key: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        name = key.replace("_", "-")
        raise ConfigInvalid(f"[embedder] {name} is {value!r}, it must be at least {least}.")
