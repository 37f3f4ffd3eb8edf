"""A chat model of any OpenAI-compatible endpoint as a listwise reranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openai import APIError, AsyncOpenAI, DefaultAsyncHttpxClient

from pincite.embedding.retrying import RetryPolicy, Transient
from pincite.errors import ConfigInvalid
from pincite.retrieval.rerank.calling import POLICY, PerLoop, call
from pincite.retrieval.rerank.config import RerankerConfig
from pincite.retrieval.rerank.openai_errors import translate
from pincite.retrieval.rerank.openai_prompt import RESPONSE_FORMAT, messages, read_ranking
from pincite.retrieval.rerank.port import Passage, Ranked

OFFICIAL_URL = "https://api.openai.com/v1"
# Servers without authentication still want the header to be there.
NO_KEY = "none"
TEMPERATURE = "temperature"


class OpenAIReranker:
    """All passages in one chat completion, which answers by a JSON schema.

    One ``rerank`` call is one request, tried again by this adapter alone. Redirects are not
    followed: key and passages go to the configured host only. Scores lie between 0 and 1; equal
    judgements keep the order in which the model lists them.

    Raises:
        ConfigInvalid: No model, or neither a key nor a base URL.
    """

    def __init__(self, config: RerankerConfig, policy: RetryPolicy = POLICY) -> None:
        _require(config)
        self._config = config
        self._policy = policy
        self._options: Mapping[str, Any] = {TEMPERATURE: 0}
        self._clients = PerLoop(self._make_client, AsyncOpenAI.close)

    @property
    def name(self) -> str:
        """``openai:<model>``."""
        return f"openai:{self._config.model}"

    async def rerank(
        self, query: str, passages: Sequence[Passage], top_k: int, timeout_s: float
    ) -> list[Ranked]:
        """See ``Reranker``."""
        sent = passages[:top_k]
        if not sent:
            return []
        chat = messages(query, sent)
        return read_ranking(
            await call(lambda left: self._post(chat, left), self._policy, timeout_s)
        )

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        await self._clients.close()

    async def _post(self, chat: list[Any], left_s: float) -> bytes:
        options = self._options
        try:
            # Raw, because nothing of the answer is to be believed before it is checked.
            response = await self._clients.get().chat.completions.with_raw_response.create(
                model=self._config.model,
                messages=chat,
                response_format=RESPONSE_FORMAT,
                timeout=left_s,
                **options,
            )
            content: bytes = response.content
            return content
        except APIError as exc:
            raise self._verdict(exc, options) from exc

    def _verdict(self, error: APIError, sent: Mapping[str, Any]) -> Exception:
        """Models that think before they answer refuse a temperature: they are asked without."""
        if error.param == TEMPERATURE and TEMPERATURE in sent:
            self._options = {}
            return Transient("the model takes no temperature", retry_after_s=0.0)
        return translate(error)

    def _make_client(self) -> AsyncOpenAI:
        return AsyncOpenAI(
            api_key=self._config.api_key or NO_KEY,
            base_url=self._config.base_url or OFFICIAL_URL,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(follow_redirects=False),
        )


def _require(config: RerankerConfig) -> None:
    if not config.model:
        raise ConfigInvalid(
            "The reranker 'openai' has no model.", "Set [rag.reranker] model to a chat model."
        )
    if not config.api_key and not config.base_url:
        raise ConfigInvalid(
            "The reranker 'openai' has neither an API key nor a base URL.",
            "Set [rag.reranker] api-key, or base-url for an endpoint that needs no key.",
        )
