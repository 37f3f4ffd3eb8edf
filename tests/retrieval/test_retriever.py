import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pincite.analysis import analyze
from pincite.embedding.hash import HashEmbedder
from pincite.errors import (
    EmbedderUnreachable,
    FullTextUnsupported,
    PinciteError,
    RequestInvalid,
    StoreLocked,
    StoreRejected,
    StoreUnreachable,
)
from pincite.retrieval.fusion import K
from pincite.retrieval.knowledge import (
    KnowledgeSearchHit,
    KnowledgeSearchRequest,
    search_port,
)
from pincite.retrieval.retriever import Found, LegsRetriever, RetrieveRequest
from pincite.schemas.candidates import CANDIDATES
from pincite.store.memory import MemoryStore
from pincite.store.port import Mode
from pincite.testing.small_corpus import SmallCorpus

MakeHit = Callable[..., KnowledgeSearchHit]
Leg = Callable[[KnowledgeSearchRequest], Awaitable[Any]]

DENSE, LEXICAL, HYBRID = Mode.DENSE, Mode.LEXICAL, Mode.HYBRID
VECTOR = HashEmbedder().vectors(["apples"])[0]


class Legs:
    """A port whose legs do what the test says."""

    def __init__(self, dense: Any = (), lexical: Any = ()) -> None:
        self._legs = {DENSE: dense, LEXICAL: lexical}
        self.asked: list[KnowledgeSearchRequest] = []

    def filter_text(self, request: KnowledgeSearchRequest) -> str:
        return f"scope {request.kb_scope}"

    async def search(self, collection: str, request: KnowledgeSearchRequest) -> Any:
        self.asked.append(request)
        leg = self._legs[request.mode]
        if isinstance(leg, BaseException):
            raise leg
        return await leg(request) if callable(leg) else list(leg) if leg == () else leg


def _retrieve(port: Any, mode: Mode = HYBRID, **query: Any) -> Found:
    values = {"top_k": 20, "vector": VECTOR, "terms": "appl", "timeout_s": 5.0}
    request = KnowledgeSearchRequest(mode, **{**values, **query})
    return asyncio.run(
        LegsRetriever(port).retrieve(RetrieveRequest("docs", 3, "collection", request))
    )


def _keys(found: Found) -> list[str]:
    keys: list[str] = found.candidates["evidence_key"].to_pylist()
    return keys


def _failures(found: Found) -> list[tuple[Mode, str]]:
    return [(failure.mode, failure.error.code) for failure in found.failures]


def _words(hit: KnowledgeSearchHit, lexical: float = 3.0) -> KnowledgeSearchHit:
    return replace(hit, similarity=None, lexical=lexical)


async def _hang(request: KnowledgeSearchRequest) -> None:
    await asyncio.sleep(60)


def test_both_legs_are_fused_and_counted(hit: MakeHit) -> None:
    found = _retrieve(Legs([hit("a"), hit("b", similarity=0.1)], [_words(hit("b"))]), kb_scope="")
    assert (found.mode, found.hit_count, found.failures) == (HYBRID, 3, ())
    (best, other) = found.candidates.to_pylist()
    assert (best["evidence_key"], best["hit_reasons"]) == ("b#chunk-0", ["dense", "lexical"])
    assert best["score"] == 1 / (K + 2) + 1 / (K + 1)
    assert (other["corpus"], other["generation"]) == ("docs", 3)
    assert found.candidates.schema.equals(CANDIDATES.schema)


@pytest.mark.parametrize(("mode", "key"), [(DENSE, "a#chunk-0"), (LEXICAL, "b#chunk-0")])
def test_one_mode_asks_one_leg(hit: MakeHit, mode: Mode, key: str) -> None:
    port = Legs([hit("a")], [_words(hit("b"))])
    found = _retrieve(port, mode)
    assert (found.mode, _keys(found), [one.mode for one in port.asked]) == (mode, [key], [mode])


def test_a_leg_is_sent_what_it_needs_and_all_that_binds_it() -> None:
    port = Legs()
    scopes = {"kb_scope": "s", "exclude_scopes": ("x",), "scope_ids": {"user_id": "u"}}
    _retrieve(port, category="c", top_k=7, **scopes)
    dense, lexical = sorted(port.asked, key=lambda one: one.mode)
    assert (dense.mode, dense.terms, dense.vector is VECTOR) == (DENSE, "", True)
    assert (lexical.mode, lexical.terms, lexical.vector) == (LEXICAL, "appl", None)
    for one in (dense, lexical):
        assert {name: getattr(one, name) for name in scopes} == scopes
        assert (one.category, one.top_k, one.timeout_s) == ("c", 7, 5.0)


def test_the_filter_is_that_of_the_port() -> None:
    assert _retrieve(Legs(), kb_scope="team").filter == "scope team"


def test_the_legs_run_side_by_side(hit: MakeHit) -> None:
    """One leg waits for the other: in turn they would wait until the deadline."""
    started: list[asyncio.Event] = []

    def meeting(own: int, other: int) -> Leg:
        async def leg(request: KnowledgeSearchRequest) -> list[KnowledgeSearchHit]:
            started[own].set()
            await started[other].wait()
            return [hit("a")]

        return leg

    async def run() -> Found:
        started.extend(asyncio.Event() for _ in range(2))
        request = KnowledgeSearchRequest(HYBRID, 20, VECTOR, "appl", timeout_s=30.0)
        port = Legs(meeting(0, 1), meeting(1, 0))
        return await LegsRetriever(port).retrieve(RetrieveRequest("docs", 3, "c", request))

    assert asyncio.run(run()).failures == ()


ERRORS = [
    (StoreUnreachable("Gone."), "STORE_UNREACHABLE"),
    (StoreLocked("Held."), "STORE_LOCKED"),
    (StoreRejected("No."), "STORE_REJECTED"),
    (FullTextUnsupported("None."), "FULL_TEXT_UNSUPPORTED"),
    (ValueError("odd"), "STORE_REJECTED"),
    (TimeoutError(), "STORE_UNREACHABLE"),
    (asyncio.CancelledError(), "STORE_UNREACHABLE"),
]


@pytest.mark.parametrize("mode", [DENSE, LEXICAL])
@pytest.mark.parametrize(("error", "code"), ERRORS, ids=[type(e).__name__ for e, _ in ERRORS])
def test_a_leg_that_fails_beside_another_is_told(
    hit: MakeHit, mode: Mode, error: BaseException, code: str
) -> None:
    legs = {"dense": [hit("a", similarity=0.4)], "lexical": [_words(hit("b"), 4.0)]}
    found = _retrieve(Legs(**{**legs, mode.value: error}))
    answers = LEXICAL if mode is DENSE else DENSE
    assert (found.mode, _failures(found), found.hit_count) == (answers, [(mode, code)], 1)
    (row,) = found.candidates.to_pylist()
    assert (row["score"], row["fused"]) == ({DENSE: 0.4, LEXICAL: 4.0}[answers], None)


def test_a_leg_that_hangs_is_left_at_the_deadline(hit: MakeHit) -> None:
    found = _retrieve(Legs(_hang, [_words(hit("b"))]), timeout_s=0.05)
    assert (_keys(found), _failures(found)) == (["b#chunk-0"], [(DENSE, "STORE_UNREACHABLE")])


def test_without_time_left_a_leg_that_has_to_wait_does_not_answer(hit: MakeHit) -> None:
    with pytest.raises(StoreUnreachable, match="dense search in time"):
        _retrieve(Legs(_hang, _hang), timeout_s=0.0)


LIES = {
    "nothing": lambda _: None,
    "text": lambda _: "hits",
    "dicts": lambda hit: [vars(hit)],
    "tuple": lambda hit: (hit, hit),
    "mixed": lambda hit: [hit, None],
    "mapping": lambda hit: {"hits": [hit]},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_an_answer_that_is_no_list_of_hits_is_a_failed_leg(
    hit: MakeHit, lie: Callable[[Any], Any]
) -> None:
    async def leg(request: KnowledgeSearchRequest) -> Any:
        return lie(hit("a"))

    found = _retrieve(Legs(leg, [_words(hit("b"))]))
    assert (_keys(found), _failures(found)) == (["b#chunk-0"], [(DENSE, "STORE_REJECTED")])


ODD = [
    ("content", None),
    ("content", b"text"),
    ("title", None),
    ("source", 7),
    ("heading", "\ud800"),
    ("content", "half \udc00"),
    ("kb_scope", None),
    ("content_sha256", None),
    ("doc_id", 5),
    ("vector_id", 5),
    ("doc_id", "\ud800"),
    ("chunk_index", "0"),
    ("chunk_index", True),
    ("chunk_index", 1.0),
    ("chunk_index", 2**63),
    ("char_start", 10**30),
    ("doc_version", "1"),
]


@pytest.mark.parametrize(("name", "value"), ODD)
def test_a_row_that_cannot_be_read_does_not_cost_the_others(
    hit: MakeHit, name: str, value: Any
) -> None:
    found = _retrieve(Legs([replace(hit("a"), **{name: value}), hit("b")]), DENSE)
    assert (_keys(found), _failures(found)) == (["b#chunk-0"], [(DENSE, "STORE_REJECTED")])
    assert found.hit_count == 1


@pytest.mark.parametrize("score", [float("nan"), float("inf"), None, "0.9", [1.0]])
def test_a_hit_with_an_unusable_score_stays_without_it(hit: MakeHit, score: Any) -> None:
    found = _retrieve(Legs([hit("a", similarity=score), hit("b", similarity=-0.5)]), DENSE)
    assert found.candidates["dense"].to_pylist() == [-0.5, None]


def test_more_rows_than_were_asked_for_are_not_taken(hit: MakeHit) -> None:
    rows = [hit(f"d{number}") for number in range(9)]
    found = _retrieve(Legs(rows), DENSE, top_k=4)
    assert (found.hit_count, len(found.candidates)) == (4, 4)


@pytest.mark.parametrize(
    ("scopes", "seen"),
    [
        ({"kb_scope": "team"}, ["a#chunk-0"]),
        ({"exclude_scopes": ("rag-eval", "")}, ["a#chunk-0", "b#chunk-0"]),
        ({}, ["a#chunk-0", "b#chunk-0", "c#chunk-0"]),
    ],
)
def test_rows_of_another_scope_are_left_out_whatever_the_store_gives(
    hit: MakeHit, scopes: dict[str, Any], seen: list[str]
) -> None:
    rows = [
        hit("a", similarity=0.1, kb_scope="team"),
        hit("b", similarity=0.2),
        hit("c", similarity=0.9, kb_scope="rag-eval", content="secret"),
    ]
    found = _retrieve(Legs(rows), DENSE, **scopes)
    assert sorted(_keys(found)) == seen
    assert found.hit_count == len(seen)
    assert _failures(found) == ([] if len(seen) == 3 else [(DENSE, "STORE_REJECTED")])
    if len(seen) < 3:
        assert "another scope" in found.failures[0].error.message


def test_rows_of_another_scope_take_no_place_of_those_that_are_seen(hit: MakeHit) -> None:
    rows = [hit("x", similarity=0.9, kb_scope="other"), hit("a", kb_scope="team")]
    assert _keys(_retrieve(Legs(rows), DENSE, kb_scope="team", top_k=1)) == ["a#chunk-0"]


@pytest.mark.parametrize(
    ("dense", "lexical", "raised"),
    [
        (StoreLocked("Held."), StoreUnreachable("Gone."), StoreLocked),
        (StoreUnreachable("Gone."), FullTextUnsupported("None."), StoreUnreachable),
        (FullTextUnsupported("None."), StoreUnreachable("Gone."), StoreUnreachable),
        (FullTextUnsupported("None."), FullTextUnsupported("None."), FullTextUnsupported),
        (ValueError("odd"), EmbedderUnreachable("Gone."), StoreRejected),
    ],
)
def test_when_both_legs_fail_the_error_that_says_most_is_raised(
    dense: Exception, lexical: Exception, raised: type[PinciteError]
) -> None:
    with pytest.raises(raised):
        _retrieve(Legs(dense, lexical))


@pytest.mark.parametrize("mode", [DENSE, LEXICAL])
def test_a_single_leg_that_fails_is_the_error(mode: Mode) -> None:
    with pytest.raises(StoreUnreachable, match="Gone"):
        _retrieve(Legs(StoreUnreachable("Gone."), StoreUnreachable("Gone.")), mode)


def test_an_invalid_request_is_no_failure_of_a_leg(hit: MakeHit) -> None:
    with pytest.raises(RequestInvalid, match="too wide"):
        _retrieve(Legs(RequestInvalid("It is too wide."), [_words(hit("b"))]))


def test_who_asks_may_be_cancelled() -> None:
    async def run() -> bool:
        request = KnowledgeSearchRequest(HYBRID, 20, VECTOR, "appl", timeout_s=30.0)
        retriever = LegsRetriever(Legs(_hang, _hang))
        task = asyncio.create_task(retriever.retrieve(RetrieveRequest("docs", 3, "c", request)))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(run())


def test_what_a_vendor_or_a_row_says_is_in_no_message_and_no_log(
    hit: MakeHit, caplog: pytest.LogCaptureFixture
) -> None:
    async def mixed(request: KnowledgeSearchRequest) -> list[KnowledgeSearchHit]:
        return [hit("secret", kb_scope="secret"), replace(hit(content="secret"), title=None)]

    with caplog.at_level(logging.DEBUG):
        found = _retrieve(Legs(ValueError("secret"), mixed), kb_scope="team")
    assert "secret" not in caplog.text
    assert not any("secret" in str(failure.error) for failure in found.failures)
    assert "ValueError" in found.failures[0].error.message


TEXTS = ["apples are red", "pears are green", "ripe apples fall"]


def _over_a_store(folder: Path, mode: Mode, query: str, store: MemoryStore) -> Found:
    async def run() -> Found:
        corpus = await SmallCorpus(folder, store=store).create()
        for number, text in enumerate(TEXTS):
            await corpus.write(f"d{number}", [text], kb_scope="hidden" if number == 2 else "")
        vector = corpus.embedder.vectors([query])[0]  # type: ignore[attr-defined]
        terms = " ".join(analyze(query))
        asked = KnowledgeSearchRequest(mode, 20, vector, terms, exclude_scopes=("hidden",))
        retriever = LegsRetriever(search_port("native", corpus.store))
        return await retriever.retrieve(RetrieveRequest("docs", 1, corpus.collection, asked))

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("mode", "reasons"),
    [
        (DENSE, {"d0": ["dense"], "d1": ["dense"]}),
        (LEXICAL, {"d0": ["lexical"]}),
        (HYBRID, {"d0": ["dense", "lexical"], "d1": ["dense"]}),
    ],
)
def test_over_a_real_store_each_candidate_tells_which_legs_found_it(
    tmp_path: Path, mode: Mode, reasons: dict[str, Sequence[str]]
) -> None:
    found = _over_a_store(tmp_path, mode, "apples", MemoryStore())
    rows = found.candidates.to_pylist()
    assert {row["doc_id"]: row["hit_reasons"] for row in rows} == reasons
    assert (rows[0]["doc_id"], found.mode, found.failures) == ("d0", mode, ())
    assert found.filter == 'kb_scope not in ["hidden"]'


def test_a_store_without_full_text_answers_hybrid_by_its_dense_leg(tmp_path: Path) -> None:
    found = _over_a_store(tmp_path, HYBRID, "apples", MemoryStore(full_text=False))
    assert (found.mode, _failures(found)) == (DENSE, [(LEXICAL, "FULL_TEXT_UNSUPPORTED")])
    assert {row["fused"] for row in found.candidates.to_pylist()} == {None}


def test_a_store_without_full_text_refuses_lexical(tmp_path: Path) -> None:
    with pytest.raises(FullTextUnsupported):
        _over_a_store(tmp_path, LEXICAL, "apples", MemoryStore(full_text=False))
