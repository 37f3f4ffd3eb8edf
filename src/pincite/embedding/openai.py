"""Any OpenAI-compatible embeddings endpoint, through the ``openai`` package."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from pincite.embedding.config import EmbedderConfig
from pincite.embedding.openai_errors import translate
from pincite.embedding.openai_models import (
    DEFAULT_MODEL,
    dim_of,
    dimensions_parameter,
    max_tokens_of,
)
from pincite.embedding.openai_reply import read_vectors
from pincite.embedding.port import Action, EmbedderInfo, ScoreProfile, Vectors, VectorSpace
from pincite.embedding.retrying import RetryPolicy, Transient, with_retries
from pincite.embedding.tokens import estimated_counts, tokenizer_counts
from pincite.errors import ConfigInvalid, EmbedderUnreachable

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OFFICIAL_URL = "https://api.openai.com/v1"
# Servers without authentication still want the header to be there.
NO_KEY = "none"
BATCH = 32
BATCH_TOKENS = 100_000
CONCURRENCY = 4


class OpenAIEmbedder:
    """One ``embed`` call is one request, tried again by this adapter alone.

    429, 408, 409, 5xx, broken connections and timeouts are tried again with growing waits, or
    the wait that the server asks for. An attempt may take ``config.timeout_s`` seconds, the whole
    call ``timeout_s``.

    Raises:
        ConfigInvalid: No key for OpenAI itself, or the dimension of the model is not known.
        ExtraMissing: A tokenizer file is configured without the package that reads it.
    """

    def __init__(self, config: EmbedderConfig, policy: RetryPolicy | None = None) -> None:
        _require_key(config)
        self._config = config
        self._info = _info(config)
        self._policy = policy or RetryPolicy(attempts=1 + config.max_retries)
        tokenizer = config.tokenizer_file
        self._count = estimated_counts if tokenizer is None else tokenizer_counts(tokenizer)
        # Connections belong to the event loop that opened them.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = (
            WeakKeyDictionary()
        )

    @property
    def info(self) -> EmbedderInfo:
        """Vectors are brought to unit length here, whatever the endpoint returns."""
        return self._info

    async def embed(
        self, texts: Sequence[str], action: Action, timeout_s: float | None = None
    ) -> Vectors:
        """See ``Embedder``; also raises what ``openai_errors`` maps."""
        if not texts:
            return np.empty((0, self._info.dim), np.float32)
        space = self._info.space
        prefix = space.query_prefix if action == "search" else space.passage_prefix
        inputs = [prefix + text for text in texts]
        try:
            body = await with_retries(
                lambda left: self._post(inputs, left), self._policy, timeout_s
            )
        except Transient as exc:
            raise EmbedderUnreachable(
                f"The embedding endpoint did not answer ({exc.reason}).",
                reason=exc.reason,
            ) from exc
        return read_vectors(body, len(inputs), self._info.dim)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Exact with a tokenizer file, else ``tokens.estimate_tokens``."""
        return self._count(texts)

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def _post(self, inputs: list[str], left_s: float | None) -> bytes:
        from openai import APIError

        limit = self._config.timeout_s if left_s is None else min(left_s, self._config.timeout_s)
        try:
            # The client's own timeout starts anew with each part of an answer.
            async with asyncio.timeout(limit):
                return await self._request(inputs, limit)
        except TimeoutError as exc:
            raise Transient("timeout") from exc
        except APIError as exc:
            raise translate(exc) from exc

    async def _request(self, inputs: list[str], limit_s: float) -> bytes:
        options: dict[str, Any] = {}
        dimensions = dimensions_parameter(self._info.dim, self._info.space.model)
        if dimensions is not None:
            options["dimensions"] = dimensions
        # Raw, because the package would build a model object around every single number.
        response = await self._open().embeddings.with_raw_response.create(
            model=self._info.space.model,
            input=inputs,
            encoding_format="float",
            timeout=limit_s,
            **options,
        )
        return response.content

    def _open(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = AsyncOpenAI(
                api_key=self._config.api_key or NO_KEY,
                base_url=self._config.base_url or OFFICIAL_URL,
                max_retries=0,
            )
        return self._clients[loop]


def _require_key(config: EmbedderConfig) -> None:
    if not config.api_key and not config.base_url:
        raise ConfigInvalid(
            "The OpenAI embedder has neither an API key nor a base URL.",
            "Set [embedder] api-key, or base-url for an endpoint that needs no key.",
        )


def _info(config: EmbedderConfig) -> EmbedderInfo:
    model = config.model or DEFAULT_MODEL
    return EmbedderInfo(
        space=VectorSpace(
            provider="openai",
            model=model,
            revision=config.revision,
            dim=dim_of(config, model),
            passage_prefix=config.passage_prefix or "",
            query_prefix=config.query_prefix or "",
        ),
        max_tokens=max_tokens_of(config, model),
        profile=ScoreProfile(),
        exact_tokens=config.tokenizer_file is not None,
        batch_size=config.batch_size or BATCH,
        max_batch_tokens=config.max_batch_tokens or BATCH_TOKENS,
        concurrency=config.concurrency or CONCURRENCY,
    )
