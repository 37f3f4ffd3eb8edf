"""Any endpoint that speaks ``POST /rerank``: Cohere, Jina, vLLM, text-embeddings-inference."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import httpx

from pincite.embedding.retrying import RetryPolicy
from pincite.errors import ConfigInvalid
from pincite.retrieval.rerank.calling import MAX_ANSWER_BYTES, POLICY, PerLoop, call, too_long
from pincite.retrieval.rerank.config import RerankerConfig
from pincite.retrieval.rerank.dialects import dialect_of, read_results, request_body
from pincite.retrieval.rerank.http_errors import check_status, translate
from pincite.retrieval.rerank.passages import readable
from pincite.retrieval.rerank.port import Passage, Ranked

PATH = "/rerank"


class HttpReranker:
    """One ``rerank`` call is one request, tried again by this adapter alone.

    Redirects are not followed: key and passages go to the configured host only.

    Raises:
        ConfigInvalid: No base URL, or an unknown ``api``.
    """

    def __init__(self, config: RerankerConfig, policy: RetryPolicy = POLICY) -> None:
        self._dialect = dialect_of(config.api)
        self._url = _endpoint(config)
        self._model = config.model
        self._policy = policy
        self._headers = _headers(config)
        self._tls = _trusted_certificates()
        self._clients = PerLoop(self._make_client, httpx.AsyncClient.aclose)

    @property
    def name(self) -> str:
        """``http:<model>``, or ``http`` where the endpoint serves only one."""
        return f"http:{self._model}" if self._model else "http"

    async def rerank(
        self, query: str, passages: Sequence[Passage], top_k: int, timeout_s: float
    ) -> list[Ranked]:
        """See ``Reranker``."""
        texts = [readable(passage) for passage in passages[:top_k]]
        if not texts:
            return []
        body = request_body(self._dialect, self._model, query, texts)
        answer = await call(lambda left: self._post(body, left), self._policy, timeout_s)
        return read_results(self._dialect, answer)

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        await self._clients.close()

    async def _post(self, body: Mapping[str, Any], left_s: float) -> bytes:
        client = self._clients.get()
        try:
            async with client.stream("POST", self._url, json=body, timeout=left_s) as response:
                check_status(response)
                return await _bounded(response)
        except httpx.HTTPError as exc:
            raise translate(exc) from exc

    def _make_client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(headers=self._headers, verify=self._tls)


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Read once, and not within the deadline of a call: it takes longer than many an answer."""
    return httpx.create_ssl_context()


def _headers(config: RerankerConfig) -> dict[str, str]:
    # A ranking is short; what a compressed answer would unfold to is not known beforehand.
    plain = {"accept": "application/json", "accept-encoding": "identity"}
    return {**plain, "authorization": f"Bearer {config.api_key}"} if config.api_key else plain


def _endpoint(config: RerankerConfig) -> str:
    if not config.base_url:
        raise ConfigInvalid(
            "The reranker 'http' has no base URL.",
            "Set [rag.reranker] base-url to where its endpoint answers.",
        )
    url = config.base_url.rstrip("/")
    return url if url.endswith(PATH) else url + PATH


async def _bounded(response: httpx.Response) -> bytes:
    parts = bytearray()
    async for part in response.aiter_bytes():
        parts += part
        if len(parts) > MAX_ANSWER_BYTES:
            raise too_long()
    return bytes(parts)
