"""The structured line that every lookup writes: its fields, and nothing of the query."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from pincite.errors import (
    EmbedderUnreachable,
    EmbeddingRejected,
    PinciteError,
    RequestInvalid,
    StoreUnreachable,
)
from pincite.retrieval.hot import HotQueries
from pincite.retrieval.result import LookupResult
from pincite.testing.faults import put, raising
from pincite.testing.lookups import fruit_corpus, look, parts_of
from pincite.testing.memory_corpus import OWNER, MemoryCorpus
from pincite.testing.small_corpus import SmallCorpus

FIELDS = ("trace_id", "corpus", "action", "fallback_reason", "latency_ms", "hit_count")
QUERY = "apples of the confidential kind"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCorpus]:
    with fruit_corpus(tmp_path_factory.mktemp("log")) as made:
        yield made


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG, logger="pincite"):
        yield caplog


def line_of(log: pytest.LogCaptureFixture) -> dict[str, Any]:
    """The fields of the one line of the lookup, the same on the record and in its text."""
    (record,) = [record for record in log.records if "action" in vars(record)]
    assert (record.name, record.levelname) == ("pincite.lookup", "INFO")
    written = dict(part.split("=", 1) for part in record.getMessage().split(" "))
    fields = {name: vars(record)[name] for name in written}
    assert written == {name: str(value) for name, value in fields.items()}
    assert set(FIELDS) <= fields.keys()
    assert "confidential" not in log.text
    assert "confidential" not in repr([vars(one) for one in log.records])
    return fields


def expected(result: LookupResult, **more: Any) -> dict[str, Any]:
    return {
        "trace_id": result.trace_id,
        "corpus": result.corpus,
        "action": "lookup",
        "hit_count": len(result.blocks),
        **more,
    }


def test_a_plain_lookup(corpus: SmallCorpus, log: pytest.LogCaptureFixture) -> None:
    result = look(parts_of(corpus), QUERY, trace_id="t-1")
    line = line_of(log)
    assert line.items() >= expected(result, fallback_reason="", degradations="").items()
    assert (line["trace_id"], line["hit_count"], line["cached"]) == ("t-1", 2, False)
    assert isinstance(line["latency_ms"], int)
    assert 0 <= line["latency_ms"] < 10_000


def test_a_retried_lookup(corpus: SmallCorpus, log: pytest.LogCaptureFixture) -> None:
    result = look(parts_of(corpus), QUERY, category="plants", mode="hybrid")
    reason = "filtered_vector_no_evidence"
    assert len(result.trace.attempts) == 2
    assert line_of(log).items() >= expected(result, fallback_reason=reason).items()


def test_a_degraded_lookup(corpus: SmallCorpus, log: pytest.LogCaptureFixture) -> None:
    gone = raising(EmbedderUnreachable("Gone."))
    catalog = put(corpus.catalog, "activity.record_lookup", raising(OSError(QUERY)))
    parts = parts_of(corpus, embedder=put(corpus.embedder, "embed", gone), catalog=catalog)
    result = look(parts, QUERY, mode="hybrid")
    line = line_of(log)
    assert line.items() >= expected(result, fallback_reason="").items()
    assert line["degradations"] == "embedder_unreachable,lookup_not_recorded"
    assert line["hit_count"] == 1


def test_a_lookup_without_evidence(corpus: SmallCorpus, log: pytest.LogCaptureFixture) -> None:
    result = look(parts_of(corpus), QUERY, kb_scope="nobody")
    line = line_of(log)
    assert line.items() >= expected(result, evidence_status="NONE", hit_count=0).items()


def test_a_lookup_that_is_switched_off(corpus: SmallCorpus, log: pytest.LogCaptureFixture) -> None:
    result = look(parts_of(corpus), QUERY, enabled=False)
    assert line_of(log).items() >= expected(result, degradations="rag_disabled").items()


def test_an_answer_that_is_given_again(corpus: SmallCorpus, log: pytest.LogCaptureFixture) -> None:
    parts = parts_of(corpus, hot=HotQueries(results=10))
    first = look(parts, QUERY)
    assert line_of(log)["cached"] is False
    log.clear()
    again = look(parts, QUERY)
    line = line_of(log)
    assert line.items() >= expected(again, cached=True).items()
    assert line["trace_id"] != first.trace_id


def test_several_corpora_are_one_line(tmp_path: Any, log: pytest.LogCaptureFixture) -> None:
    with fruit_corpus(tmp_path) as docs:
        memory = MemoryCorpus(tmp_path, store=docs.store, catalog=docs.catalog)
        asyncio.run(memory.create())
        result = look(parts_of(docs), QUERY, corpus="docs,memory", **OWNER)
    assert line_of(log).items() >= expected(result, corpus="docs,memory").items()


@pytest.mark.parametrize(
    ("place", "fault", "error"),
    [
        ("store", raising(StoreUnreachable("Gone.")), StoreUnreachable),
        ("embedder", raising(EmbeddingRejected("Too long.")), RequestInvalid),
    ],
    ids=["no way to search", "query refused"],
)
def test_a_lookup_that_fails_writes_its_line_too(
    corpus: SmallCorpus,
    log: pytest.LogCaptureFixture,
    place: str,
    fault: Any,
    error: type[PinciteError],
) -> None:
    method = {"store": "search", "embedder": "embed"}[place]
    broken = put(getattr(corpus, place), method, fault)
    with pytest.raises(error):
        look(parts_of(corpus, **{place: broken}), QUERY, trace_id="t-9")
    line = line_of(log)
    assert (line["trace_id"], line["error"], line["hit_count"]) == ("t-9", error.code, 0)
    assert (line["corpus"], line["action"], line["fallback_reason"]) == ("docs", "lookup", "")
