"""What a reranker is built from: a plain value that the settings are mapped onto."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pincite.errors import ConfigInvalid


@dataclass(frozen=True)
class RerankerConfig:
    """Everything that any reranker can be told; ``""`` means not given.

    Attributes:
        provider: Key of ``registry.PROVIDERS``.
        model: Model name as the endpoint spells it.
        base_url: Where the endpoint answers; may hold credentials, so never shown in ``repr``.
        api_key: Secret of that endpoint; never shown in ``repr``.
        api: Key of ``dialects.DIALECTS``: the shape that an ``http`` endpoint speaks.

    Raises:
        ConfigInvalid: The base URL is no address, or the key cannot stand in a header.
    """

    provider: str = "none"
    model: str = ""
    base_url: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    api: str = "cohere"

    def __post_init__(self) -> None:
        if self.base_url and not _is_address(self.base_url):
            raise ConfigInvalid(
                "[rag.reranker] base-url is no address.",
                "Give one that begins with 'http://' or 'https://' and names a host.",
            )
        if not (self.api_key.isascii() and self.api_key.isprintable()):
            raise ConfigInvalid(
                "[rag.reranker] api-key holds characters that no header may hold.",
                "Give the key alone, without line breaks.",
            )


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Reading the port is what checks it.
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
