import asyncio
import email.utils
import logging
import random
import socket
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pincite.embedding.batching import Embedded, embed_all
from pincite.embedding.config import EmbedderConfig
from pincite.embedding.hash import HashEmbedder
from pincite.embedding.openai import OpenAIEmbedder
from pincite.embedding.port import Vectors
from pincite.embedding.retrying import RetryPolicy
from pincite.errors import (
    ConfigInvalid,
    EmbedderRefused,
    EmbedderUnreachable,
    EmbeddingInvalid,
    EmbeddingRejected,
    ServiceError,
)
from pincite.testing.embedding_endpoint import (
    Behaviour,
    EmbeddingEndpoint,
    Items,
    failing,
    hanging_up,
    refusing,
    saying,
    slow,
    tampering,
)

FAST = RetryPolicy(attempts=3, first_wait_s=0.001, longest_wait_s=0.01, longest_asked_s=0.2)
TEXTS = ["alpha one", "beta two", "gamma three", "delta four"]
KEY = "sk-very-secret"


def client(endpoint: EmbeddingEndpoint, **options: Any) -> OpenAIEmbedder:
    settings = {"model": "scripted", "dim": endpoint.dim, "api_key": KEY, **options}
    return OpenAIEmbedder(EmbedderConfig("openai", base_url=endpoint.url, **settings), FAST)


def embed(
    embedder: OpenAIEmbedder, texts: list[str] = TEXTS, timeout_s: float | None = None
) -> Vectors:
    async def run() -> Vectors:
        try:
            return await embedder.embed(texts, "add", timeout_s)
        finally:
            await embedder.close()

    return asyncio.run(run())


def many(embedder: OpenAIEmbedder, texts: list[str] = TEXTS) -> Embedded:
    async def run() -> Embedded:
        try:
            return await embed_all(embedder, texts)
        finally:
            await embedder.close()

    return asyncio.run(run())


def expected(texts: list[str] = TEXTS) -> Vectors:
    return HashEmbedder().vectors(texts)


def shuffled(items: Items) -> Items:
    return random.Random(3).sample(items, len(items))


def with_vector(index: int, vector: list[float]) -> Behaviour:
    def change(items: Items) -> Items:
        return [{**i, "embedding": vector} if i["index"] == index else i for i in items]

    return tampering(change)


def test_the_request_says_what_is_wanted() -> None:
    with EmbeddingEndpoint() as endpoint:
        assert np.allclose(embed(client(endpoint)), expected(), atol=1e-6)
        (call,) = endpoint.calls
    assert call.path == "/v1/embeddings"
    assert call.body == {"model": "scripted", "input": TEXTS, "encoding_format": "float"}
    assert call.headers["authorization"] == f"Bearer {KEY}"


def test_each_side_gets_its_prefix() -> None:
    with EmbeddingEndpoint() as endpoint:
        embedder = client(endpoint, passage_prefix="doc: ", query_prefix="ask: ")

        async def run() -> None:
            await embedder.embed(["x"], "add")
            await embedder.embed(["x"], "search")
            await embedder.close()

        asyncio.run(run())
        assert [call.texts for call in endpoint.calls] == [["doc: x"], ["ask: x"]]


def test_dimensions_are_sent_only_where_they_shorten_a_model_that_can() -> None:
    def sent(model: str, dim: int | None) -> object:
        with EmbeddingEndpoint() as endpoint:
            with pytest.raises(EmbeddingInvalid):
                embed(client(endpoint, model=model, dim=dim), ["x"])
            return endpoint.calls[0].body.get("dimensions")

    assert sent("text-embedding-3-small", 256) == 256
    assert sent("text-embedding-3-small", None) is None
    assert sent("some-open-model", 256) is None


@pytest.mark.parametrize(
    "trouble",
    [
        failing(429, {"retry-after": "0.01"}),
        failing(429, {"retry-after-ms": "10"}),
        failing(500),
        failing(503),
        failing(408),
        failing(409),
        hanging_up,
    ],
)
def test_passing_trouble_is_tried_again(trouble: Behaviour) -> None:
    with EmbeddingEndpoint(trouble, trouble) as endpoint:
        assert np.allclose(embed(client(endpoint)), expected(), atol=1e-6)
        assert len(endpoint.calls) == 3


def test_attempts_are_bounded_and_counted_once() -> None:
    with EmbeddingEndpoint(otherwise=failing(503)) as endpoint:
        with pytest.raises(EmbedderUnreachable, match="HTTP 503"):
            embed(client(endpoint))
        assert len(endpoint.calls) == FAST.attempts


def test_the_wait_that_the_server_asks_for_is_kept() -> None:
    with EmbeddingEndpoint(failing(429, {"retry-after": "0.15"})) as endpoint:
        started = time.monotonic()
        embed(client(endpoint))
        assert time.monotonic() - started >= 0.15


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_wait_beyond_the_maximum_is_cut(form: str) -> None:
    date = email.utils.formatdate(time.time() + 3600, usegmt=True)
    asked = "3600" if form == "seconds" else date
    with EmbeddingEndpoint(failing(429, {"retry-after": asked})) as endpoint:
        started = time.monotonic()
        embed(client(endpoint))
        assert 0.2 <= time.monotonic() - started < 2


def test_a_wait_that_would_miss_the_deadline_is_not_begun() -> None:
    with EmbeddingEndpoint(otherwise=failing(429, {"retry-after": "0.2"})) as endpoint:
        with pytest.raises(EmbedderUnreachable):
            embed(client(endpoint), timeout_s=0.19)
        assert len(endpoint.calls) == 1


def test_a_slow_answer_is_given_up_and_asked_for_again() -> None:
    with EmbeddingEndpoint(slow(2)) as endpoint:
        assert np.allclose(embed(client(endpoint, timeout_s=0.4)), expected(), atol=1e-6)
        assert len(endpoint.calls) == 2


def test_the_deadline_holds_over_all_attempts() -> None:
    with EmbeddingEndpoint(otherwise=slow(2)) as endpoint:
        started = time.monotonic()
        with pytest.raises(EmbedderUnreachable, match="timeout"):
            embed(client(endpoint), timeout_s=0.1)
        assert time.monotonic() - started < 1.5


def test_an_endpoint_that_is_not_there_is_unreachable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    config = EmbedderConfig("openai", "scripted", base_url=url, dim=4)
    with pytest.raises(EmbedderUnreachable) as caught:
        embed(OpenAIEmbedder(config, FAST))
    assert caught.value.retryable


@pytest.mark.parametrize(
    "refusal",
    [
        failing(401),
        failing(403),
        failing(404),
        failing(405),
        failing(429, code="insufficient_quota"),
        failing(400, param="dimensions"),
    ],
)
def test_a_refusal_is_final_at_once(refusal: Behaviour) -> None:
    with EmbeddingEndpoint(otherwise=refusal) as endpoint:
        with pytest.raises(EmbedderRefused):
            many(client(endpoint))
        assert len(endpoint.calls) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
def test_one_refused_text_is_found_and_the_others_are_embedded(status: int) -> None:
    texts = [*TEXTS, "a poison pill", "zeta six"]
    with EmbeddingEndpoint(otherwise=refusing("poison", status)) as endpoint:
        done = many(client(endpoint), texts)
    assert list(done.rejected) == [4]
    assert isinstance(done.rejected[4], EmbeddingRejected)
    rest = [0, 1, 2, 3, 5]
    assert np.allclose(done.vectors[rest], expected(texts)[rest], atol=1e-6)


def test_an_endpoint_that_refuses_every_text_is_not_asked_for_each_of_them() -> None:
    with EmbeddingEndpoint(otherwise=failing(400)) as endpoint:
        with pytest.raises(EmbedderRefused):
            many(client(endpoint, concurrency=1), [f"text {n}" for n in range(32)])
        assert len(endpoint.calls) == 7


def test_shuffled_vectors_are_put_in_order() -> None:
    with EmbeddingEndpoint(tampering(shuffled)) as endpoint:
        assert np.allclose(embed(client(endpoint)), expected(), atol=1e-6)


@pytest.mark.parametrize(
    "lie",
    [
        tampering(lambda items: items[:-1]),
        tampering(lambda items: [*items, items[0]]),
        tampering(lambda items: [{**item, "index": 0} for item in items]),
        tampering(lambda items: [{**item, "index": item["index"] + 1} for item in items]),
        tampering(lambda items: [{"embedding": item["embedding"]} for item in items]),
        tampering(lambda items: [{**item, "embedding": item["embedding"][:-1]} for item in items]),
        tampering(lambda items: [{**item, "embedding": "AAAA"} for item in items]),
        tampering(lambda items: [{**item, "embedding": 1.5} for item in items]),
        tampering(lambda items: [{**item, "embedding": [[1.0]]} for item in items]),
        with_vector(1, [1.0, 2.0]),
        tampering(lambda items: []),
        saying(b'{"data": null}'),
        saying(b"{}"),
        saying(b"[]"),
        saying(b"<html>gateway</html>"),
        saying(b""),
        saying(b"\xff\xfe"),
    ],
)
def test_an_answer_that_cannot_be_right_is_invalid(lie: Behaviour) -> None:
    with EmbeddingEndpoint(lie) as endpoint, pytest.raises(EmbeddingInvalid):
        embed(client(endpoint))


def test_a_lie_told_once_costs_no_text() -> None:
    with EmbeddingEndpoint(tampering(lambda items: items[:-1])) as endpoint:
        done = many(client(endpoint))
    assert not done.rejected
    assert np.allclose(done.vectors, expected(), atol=1e-6)


def test_a_wrong_dimension_ends_the_run() -> None:
    with EmbeddingEndpoint() as endpoint, pytest.raises(EmbeddingInvalid) as caught:
        many(client(endpoint, dim=17))
    assert caught.value.attributes["expected"] == 17


@pytest.mark.parametrize("value", [float("nan"), 0.0, float("inf"), 1e308])
def test_a_vector_without_direction_rejects_its_text_alone(value: float) -> None:
    with EmbeddingEndpoint(with_vector(2, [value] * EmbeddingEndpoint.dim)) as endpoint:
        done = many(client(endpoint))
    assert list(done.rejected) == [2]
    assert isinstance(done.rejected[2], EmbeddingInvalid)
    assert np.allclose(done.vectors[[0, 1, 3]], expected()[[0, 1, 3]], atol=1e-6)


def test_vectors_are_brought_to_unit_length() -> None:
    def longer(items: Items) -> Items:
        return [{**item, "embedding": [7 * v for v in item["embedding"]]} for item in items]

    with EmbeddingEndpoint(tampering(longer)) as endpoint:
        assert np.allclose(embed(client(endpoint)), expected(), atol=1e-6)


@pytest.mark.parametrize("trouble", [failing(400), failing(401), failing(500), saying(b"poison")])
def test_neither_log_nor_error_shows_the_text_or_the_key(
    trouble: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    refusal = pytest.raises((ServiceError, EmbeddingRejected))
    with EmbeddingEndpoint(otherwise=trouble) as endpoint, refusal as caught:
        embed(client(endpoint), ["private words"])
    shown = [caplog.text, repr(caplog.records), str(caught.value), repr(vars(caught.value))]
    assert "private" not in shown
    assert "scripted failure" not in shown
    assert KEY not in shown
    assert KEY not in repr(EmbedderConfig(api_key=KEY))


def test_it_serves_several_event_loops() -> None:
    with EmbeddingEndpoint() as endpoint:
        embedder = client(endpoint)
        first, second = embed(embedder), embed(embedder)
    assert np.array_equal(first, second)


def test_requests_run_side_by_side_up_to_the_concurrency() -> None:
    texts = [f"text {n}" for n in range(8)]
    with EmbeddingEndpoint(otherwise=slow(0.3)) as endpoint:
        started = time.monotonic()
        done = many(client(endpoint, batch_size=2, concurrency=4), texts)
        assert time.monotonic() - started < 1.1
        assert len(endpoint.calls) == 4
    assert np.allclose(done.vectors, expected(texts), atol=1e-6)


@pytest.mark.parametrize(
    ("build", "key"),
    [
        (lambda: EmbedderConfig("openai"), "api-key"),
        (lambda: EmbedderConfig("openai", "own-model", base_url="http://x/v1"), "dim"),
        (lambda: EmbedderConfig("openai", "text-embedding-3-small", api_key="k", dim=5000), "dim"),
        (lambda: EmbedderConfig("openai", "text-embedding-ada-002", api_key="k", dim=256), "dim"),
    ],
)
def test_a_missing_or_impossible_setting_names_its_key(
    build: Callable[[], EmbedderConfig], key: str
) -> None:
    with pytest.raises(ConfigInvalid, match=key):
        OpenAIEmbedder(build())


def test_known_models_need_no_dimension() -> None:
    info = OpenAIEmbedder(EmbedderConfig("openai", api_key="k")).info
    assert (info.space.model, info.dim, info.max_tokens) == ("text-embedding-3-small", 1536, 8191)
    assert not info.exact_tokens
