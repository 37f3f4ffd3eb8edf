"""Whatever an endpoint does, the guard answers in time, with the code of what went wrong."""

import logging
import random
import socket
import time

import pytest

from pincite.retrieval.rerank.calling import MAX_ANSWER_BYTES
from pincite.retrieval.rerank.config import RerankerConfig
from pincite.retrieval.rerank.openai import OpenAIReranker
from pincite.testing.rerank_endpoint import (
    Behaviour,
    Call,
    Reply,
    RerankEndpoint,
    Rows,
    answering,
    chatting,
    failing,
    hanging_up,
    saying,
    slow,
    tampering,
)
from pincite.testing.reranker_suite import BEST, PASSAGES, QUERY, best_of, look, rerank

KEY = "sk-very-secret"


def changed(**fields: object) -> Behaviour:
    """The right answer with these fields in its first row."""
    return tampering(lambda rows: [{**rows[0], **fields}, *rows[1:]])


def without(name: str) -> Behaviour:
    def change(rows: Rows) -> Rows:
        return [{key: value for key, value in row.items() if key != name} for row in rows]

    return tampering(change)


def padded(call: Call) -> Reply:
    """The right answer, behind more blanks than an answer may be long."""
    right = answering(call)
    return Reply(body=b" " * MAX_ANSWER_BYTES + (right.body or b""), headers=right.headers)


MISBEHAVIOURS = {
    "hanging up": (hanging_up, "rerank_unreachable"),
    "429": (failing(429), "rerank_unreachable"),
    "429 and a long wait": (failing(429, {"retry-after": "60"}), "rerank_unreachable"),
    "408": (failing(408), "rerank_unreachable"),
    "500": (failing(500), "rerank_unreachable"),
    "503": (failing(503), "rerank_unreachable"),
    "400": (failing(400), "rerank_refused"),
    "401": (failing(401), "rerank_refused"),
    "403": (failing(403), "rerank_refused"),
    "404": (failing(404), "rerank_refused"),
    "413": (failing(413), "rerank_refused"),
    "422": (failing(422), "rerank_refused"),
    "redirect": (failing(308, {"location": "http://127.0.0.1:9/rerank"}), "rerank_refused"),
    "one left out": (tampering(lambda rows: rows[:-1]), "rerank_too_few"),
    "none": (tampering(lambda rows: []), "rerank_too_few"),
    "one too many": (tampering(lambda rows: [*rows, rows[0]]), "rerank_too_many"),
    "another index": (tampering(lambda rows: [*rows, {"index": 9, "score": 0.1}]),
                      "rerank_too_many"),
    "index too high": (changed(index=len(PASSAGES)), "rerank_index_out_of_range"),
    "counted from 1": (tampering(lambda rows: [{**row, "index": row["index"] + 1} for row in rows]),
                       "rerank_index_out_of_range"),
    "index negative": (changed(index=-1), "rerank_index_out_of_range"),
    "index huge": (changed(index=10**30), "rerank_index_out_of_range"),
    "index twice": (tampering(lambda rows: [*rows[:-1], rows[0]]), "rerank_index_repeated"),
    "NaN": (changed(score=float("nan")), "rerank_not_finite"),
    "infinity": (changed(score=float("inf")), "rerank_not_finite"),
    "a number beyond floats": (changed(score=10**400), "rerank_not_finite"),
    "score as text": (changed(score="0.9"), "rerank_malformed"),
    "score null": (changed(score=None), "rerank_malformed"),
    "score true": (changed(score=True), "rerank_malformed"),
    "score a list": (changed(score=[0.9]), "rerank_malformed"),
    "index as text": (changed(index="0"), "rerank_malformed"),
    "index true": (changed(index=True), "rerank_malformed"),
    "index a fraction": (changed(index=0.5), "rerank_malformed"),
    "no index": (without("index"), "rerank_malformed"),
    "no score": (without("score"), "rerank_malformed"),
    "empty body": (saying(b""), "rerank_malformed"),
    "no JSON": (saying(b"<html>gateway</html>"), "rerank_malformed"),
    "cut off": (saying(b'{"results": [{"index": 0, "relevance_sc'), "rerank_malformed"),
    "no text": (saying(b"\xff\xfe\xff"), "rerank_malformed"),
    "deep": (saying(b"[" * 200_000), "rerank_malformed"),
    "a number of many digits": (saying(b"9" * 10_000), "rerank_malformed"),
    "null": (saying(b"null"), "rerank_malformed"),
    "an object without results": (saying(b'{"message": "ok"}'), "rerank_malformed"),
    "results null": (saying(b'{"results": null, "choices": null}'), "rerank_malformed"),
    "results of text": (saying(b'{"results": ["a"], "choices": ["a"]}'), "rerank_malformed"),
    "a list of numbers": (saying(b"[0.9, 0.1]"), "rerank_malformed"),
    "no choices": (saying(b'{"choices": []}'), "rerank_malformed"),
    "huge": (padded, "rerank_malformed"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISBEHAVIOURS)
def test_each_misbehaviour_has_its_code(connect, case) -> None:
    behaviour, code = MISBEHAVIOURS[case]
    with RerankEndpoint(otherwise=behaviour) as endpoint:
        verdict = look(connect(endpoint), timeout_s=5.0)
    assert (verdict.reason, verdict.scores) == (code, None)


def test_a_slow_endpoint_is_a_timeout(connect) -> None:
    with RerankEndpoint(otherwise=slow(1.0)) as endpoint:
        started = time.monotonic()
        verdict = look(connect(endpoint), timeout_s=0.2)
        assert time.monotonic() - started < 0.8
    assert (verdict.reason, verdict.scores) == ("rerank_timeout", None)
    assert 150 <= verdict.latency_ms < 600


def test_an_endpoint_that_is_not_there_is_unreachable(connect) -> None:
    with RerankEndpoint() as endpoint:
        reranker = connect(endpoint)
    assert look(reranker).reason == "rerank_unreachable"


def test_one_that_accepts_and_never_answers_is_a_timeout(connect, monkeypatch) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        monkeypatch.setattr(RerankEndpoint, "url", url)
        monkeypatch.setattr(RerankEndpoint, "openai_url", f"{url}/v1")
        assert look(connect(RerankEndpoint()), timeout_s=0.2).reason == "rerank_timeout"


@pytest.mark.parametrize(
    "trouble", [failing(429, {"retry-after": "0.01"}), failing(503), failing(408), hanging_up]
)
def test_passing_trouble_is_tried_again_within_the_deadline(connect, trouble) -> None:
    with RerankEndpoint(trouble, trouble) as endpoint:
        assert look(connect(endpoint)).reason is None
        assert len(endpoint.calls) == 3


def test_the_wait_that_the_endpoint_asks_for_is_kept(connect) -> None:
    with RerankEndpoint(failing(429, {"retry-after": "0.15"})) as endpoint:
        started = time.monotonic()
        assert look(connect(endpoint)).reason is None
        assert time.monotonic() - started >= 0.15


def test_a_wait_that_would_miss_the_deadline_is_not_begun(connect) -> None:
    with RerankEndpoint(otherwise=failing(429, {"retry-after": "3"})) as endpoint:
        started = time.monotonic()
        assert look(connect(endpoint), timeout_s=2.0).reason == "rerank_unreachable"
        assert time.monotonic() - started < 1.0
        assert len(endpoint.calls) == 1


def test_attempts_are_bounded(connect) -> None:
    with RerankEndpoint(otherwise=failing(500)) as endpoint:
        assert look(connect(endpoint)).reason == "rerank_unreachable"
        assert len(endpoint.calls) == 3


@pytest.mark.parametrize("refusal", [failing(401), failing(400), saying(b"{}")])
def test_what_will_not_pass_is_not_tried_again(connect, refusal) -> None:
    with RerankEndpoint(refusal) as endpoint:
        assert look(connect(endpoint)).reason is not None
        assert len(endpoint.calls) == 1


def test_results_in_any_order_are_put_right(connect) -> None:
    shuffle = tampering(lambda rows: random.Random(3).sample(rows, len(rows)))
    with RerankEndpoint(answering, shuffle) as endpoint:
        reranker = connect(endpoint)
        best = [best_of(rerank(reranker, PASSAGES)) for _ in range(2)]
    assert best == [PASSAGES.index(BEST)] * 2


def test_whole_numbers_are_scores(connect) -> None:
    whole = tampering(lambda rows: [{**row, "score": row["index"]} for row in rows])
    with RerankEndpoint(whole) as endpoint:
        verdict = look(connect(endpoint))
    assert verdict.scores is not None
    assert sorted(verdict.scores) == list(verdict.scores)
    assert all(type(score) is float for score in verdict.scores)


@pytest.mark.parametrize(
    "trouble", [failing(400), failing(401), failing(500), saying(b"poison"), hanging_up]
)
def test_logs_show_neither_passage_nor_query_nor_key_nor_what_came_back(
    connect, trouble, caplog
) -> None:
    caplog.set_level(logging.DEBUG)
    with RerankEndpoint(otherwise=trouble) as endpoint:
        look(connect(endpoint))
    logged = caplog.text + repr([vars(record) for record in caplog.records if ours(record)])
    assert "rerank not applied" in logged
    for secret in (BEST.text, BEST.title, QUERY, KEY, "scripted failure", "poison"):
        assert secret not in logged


def ours(record: logging.LogRecord) -> bool:
    return record.name.startswith("pincite.")


@pytest.mark.parametrize("content", [None, "", "no JSON", "[]", "{}", '{"ranking": {}}'])
def test_a_message_that_is_no_ranking_is_malformed(content) -> None:
    assert of_chat(chatting(content)) == "rerank_malformed"


@pytest.mark.parametrize(
    "behaviour",
    [
        changed(why="it is the best"),
        changed(score=1.5),
        changed(score=-0.01),
        chatting('{"ranking": [[0, 50]]}'),
        chatting('{"ranking": [], "note": "none fits"}'),
        chatting('```json\n{"ranking": []}\n```'),
    ],
)
def test_a_ranking_beside_the_schema_is_malformed(behaviour) -> None:
    assert of_chat(behaviour) == "rerank_malformed"


def of_chat(behaviour: Behaviour) -> str | None:
    with RerankEndpoint(behaviour) as endpoint:
        config = RerankerConfig("openai", "scripted", endpoint.openai_url)
        return look(OpenAIReranker(config)).reason
