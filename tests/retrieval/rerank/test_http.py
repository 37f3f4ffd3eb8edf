import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pincite.errors import ConfigInvalid, RerankerTimeout, RerankerUnreachable, RerankingInvalid
from pincite.retrieval.rerank.config import RerankerConfig
from pincite.retrieval.rerank.dialects import DIALECTS
from pincite.retrieval.rerank.http import HttpReranker
from pincite.retrieval.rerank.port import Passage
from pincite.settings.model import RerankerSettings
from pincite.testing.rerank_endpoint import Call, RerankEndpoint, failing, slow
from pincite.testing.reranker_suite import rerank

PASSAGES = (
    Passage("# Leases\n\nText one.", "Leases", "Leases", 0.9, 3.0),
    Passage("Text two.", "Leases", "Leases > Expiry", None, 1.0),
    Passage("Text three.", "", "", 0.5, None),
)
TEXTS = ["# Leases\n\nText one.", "Leases > Expiry\n\nText two.", "Text three."]


def sent(api: str, model: str = "m", key: str = "", top_k: int = 20, base: str = "") -> Call:
    with RerankEndpoint() as endpoint:
        config = RerankerConfig("http", model, endpoint.url + base, key, api)
        rerank(HttpReranker(config), PASSAGES, query="q", top_k=top_k)
        (call,) = endpoint.calls
    return call


def test_cohere_and_jina_are_asked_in_their_shape() -> None:
    wanted = {"model": "m", "query": "q", "documents": TEXTS, "top_n": 3}
    assert sent("cohere").body == wanted


def test_vllm_is_told_to_cut_what_is_too_long() -> None:
    wanted = {"model": "m", "query": "q", "documents": TEXTS, "top_n": 3}
    assert sent("vllm").body == {**wanted, "truncate_prompt_tokens": -1}


def test_tei_is_asked_in_its_shape() -> None:
    assert sent("tei").body == {"query": "q", "texts": TEXTS, "truncate": True}


def test_a_model_is_named_only_if_it_is_given() -> None:
    assert "model" not in sent("cohere", model="").body


def test_only_the_first_passages_are_sent() -> None:
    body = sent("cohere", top_k=2).body
    assert (body["documents"], body["top_n"]) == (TEXTS[:2], 2)


def test_neither_scores_nor_anything_else_of_a_candidate_is_sent() -> None:
    assert set(sent("cohere").body) == {"model", "query", "documents", "top_n"}


def test_the_key_is_a_bearer_token_and_stays_away_where_there_is_none() -> None:
    assert sent("cohere", key="sk-1").headers["authorization"] == "Bearer sk-1"
    assert "authorization" not in sent("cohere").headers


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/rerank"),
        ("/", "/rerank"),
        ("/v1", "/v1/rerank"),
        ("/v2/", "/v2/rerank"),
        ("/v2/rerank", "/v2/rerank"),
    ],
)
def test_the_base_url_may_end_before_or_after_rerank(base, path) -> None:
    assert sent("cohere", base=base).path == path


def test_no_passages_ask_nobody() -> None:
    with RerankEndpoint() as endpoint:
        assert rerank(HttpReranker(RerankerConfig("http", base_url=endpoint.url)), ()) == []
        assert endpoint.calls == []


@pytest.mark.parametrize(("model", "name"), [("bge", "http:bge"), ("", "http")])
def test_the_name_tells_the_model(model, name) -> None:
    config = RerankerConfig("http", model, "http://user:hunter2@localhost", "sk-1")
    assert HttpReranker(config).name == name


def test_the_settings_offer_every_dialect() -> None:
    assert RerankerSettings.model_fields["api"].annotation.__args__ == tuple(DIALECTS)


def test_an_unknown_dialect_names_the_known_ones() -> None:
    with pytest.raises(ConfigInvalid) as caught:
        HttpReranker(RerankerConfig("http", base_url="http://x", api="tie"))
    assert all(repr(name) in caught.value.next_step for name in DIALECTS)


def test_without_a_base_url_there_is_no_reranker() -> None:
    with pytest.raises(ConfigInvalid, match="base-url"):
        HttpReranker(RerankerConfig("http"))


def test_the_deadline_holds_over_all_attempts() -> None:
    with RerankEndpoint(failing(503), otherwise=slow(1.0)) as endpoint:
        started = time.monotonic()
        with pytest.raises(RerankerTimeout):
            ask(endpoint.url, timeout_s=0.3)
        assert time.monotonic() - started < 0.9
        assert len(endpoint.calls) == 2


def test_an_error_tells_the_status_and_not_the_address() -> None:
    unreachable = pytest.raises(RerankerUnreachable, match="HTTP 503")
    with RerankEndpoint(otherwise=failing(503)) as endpoint, unreachable as caught:
        ask(endpoint.url.replace("//", "//user:hunter2@"))
    assert "hunter2" not in f"{caught.value} {caught.value.attributes}"


def ask(url: str, timeout_s: float = 5.0) -> Any:
    return rerank(HttpReranker(RerankerConfig("http", "m", url)), PASSAGES, timeout_s=timeout_s)


Write = Callable[[asyncio.StreamWriter], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


@asynccontextmanager
async def raw_server(write: Write) -> AsyncIterator[str]:
    """A server that reads a request's head and then writes what it likes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            await write(writer)
        except ConnectionError:
            pass  # the client gave up, as it may
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def ask_raw(write: Write, timeout_s: float = 5.0) -> Any:
    async with raw_server(write) as url:
        reranker = HttpReranker(RerankerConfig("http", "m", url))
        try:
            return await reranker.rerank("q", PASSAGES, 20, timeout_s)
        finally:
            await reranker.close()


async def trickle(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"content-length: 1000\r\n\r\n")
    for _ in range(40):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


def test_an_answer_that_trickles_in_does_not_stretch_the_deadline() -> None:
    started = time.monotonic()
    with pytest.raises(RerankerTimeout):
        asyncio.run(ask_raw(trickle, timeout_s=0.3))
    assert time.monotonic() - started < 1.0


async def drop(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b'content-length: 1000\r\n\r\n{"results": [')
    await writer.drain()


def test_a_connection_dropped_within_the_answer_is_unreachable() -> None:
    with pytest.raises(RerankerUnreachable, match="RemoteProtocolError"):
        asyncio.run(ask_raw(drop))


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"transfer-encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        await writer.drain()


def test_an_endless_answer_is_left_at_the_limit() -> None:
    with pytest.raises(RerankingInvalid, match="bytes long"):
        asyncio.run(ask_raw(endless))
