"""Each stage of a lookup times each way to fail: it answers, says so, and leaks nothing.

``CELLS`` is the table. A cell is a stage, a fault, and what must come of it: the codes of the
degradations, in order, or the error where there is no way at all to search.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from pincite.errors import (
    CatalogUnreachable,
    EmbedderChanged,
    EmbedderRefused,
    EmbedderUnreachable,
    EmbeddingInvalid,
    EmbeddingRejected,
    FullTextUnsupported,
    PinciteError,
    RequestInvalid,
    RerankerRefused,
    RerankerTimeout,
    RerankerUnreachable,
    RerankingInvalid,
    StoreLocked,
    StoreRejected,
    StoreUnreachable,
)
from pincite.identity import text_sha256
from pincite.retrieval.hot import HotQueries
from pincite.retrieval.parts import LookupParts
from pincite.retrieval.pipeline import lookup
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.rerank.blend import BlendReranker
from pincite.retrieval.rerank.port import Ranked
from pincite.retrieval.result import LookupResult
from pincite.retrieval.steps import LookupSteps, direct_steps
from pincite.schemas.candidates import CANDIDATES
from pincite.store.filters import Eq
from pincite.store.port import Hit, Mode, TextQuery, VectorQuery
from pincite.testing.faults import Fault, Instead, answering, changing, hanging, put, raising
from pincite.testing.lookups import codes, document, fruit_corpus, keys, parts_of, write
from pincite.testing.small_corpus import SmallCorpus

QUERY = "When does the harvest of apples begin?"
ANSWER = "The harvest of apples begins in September."
SECRET = "When does the harvest of apples begin? Marmalade."
# What only the document of another scope says, and what only the failing service says.
NEVER = ("vault", "treasure", "marmalade", "board", text_sha256(SECRET), "s3cr3t")
VENDOR = "connection to s3cr3t lost"

TIMEOUT_MS = 10_000
HANG_MS = 700
SLACK_S = 1.5

NAN = float("nan")


@dataclass(frozen=True)
class Scene:
    """A corpus, and a lookup of it that uses every stage."""

    corpus: SmallCorpus
    parts: LookupParts

    def with_catalog(self, path: str, fault: Fault) -> LookupParts:
        return replace(self.parts, catalog=put(self.corpus.catalog, path, fault))

    def with_embedder(self, method: str, fault: Fault) -> LookupParts:
        embedder = put(self.corpus.embedder, method, fault)
        return replace(self.parts, embedder_for=lambda _: embedder)

    def with_store(self, fault: Fault, *asked: type) -> LookupParts:
        store = put(self.corpus.store, "search", fault, lambda _, query: isinstance(query, asked))
        return parts_of(self.corpus, store=store, reranker=self.parts.reranker)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with fruit_corpus(tmp_path_factory.mktemp("matrix")) as corpus:
        orchard = {"category": "food", "title": "Orchard", "aliases": ["harvest of apples"]}
        write(corpus, "orchard", ANSWER, "Apples keep well.", kb_scope="team", **orchard)
        write(corpus, "press", "A press for apples stands in the barn.", kb_scope="team")
        vault = {"category": "treasure", "title": "Vault", "aliases": ["harvest of apples"]}
        write(corpus, "vault", SECRET, kb_scope="board", source="board/vault.md", **vault)
        yield Scene(corpus, parts_of(corpus, reranker=BlendReranker()))


Place = Callable[[Scene, Fault], LookupParts]

# Where the fault of a stage is put: into a method of the adapter that the stage calls.
PLACES: dict[str, Place] = {
    "pin": lambda scene, fault: scene.with_catalog("generations.live", fault),
    "revision": lambda scene, fault: scene.with_catalog("revision", fault),
    "recipe": lambda scene, fault: replace(
        scene.parts, embedder_for=fault.on(scene.parts.embedder_for)
    ),
    "l0": lambda scene, fault: scene.with_catalog("l0.match", fault),
    "l0 words": lambda scene, fault: scene.with_catalog("l0.described", fault),
    "embed": lambda scene, fault: scene.with_embedder("embed", fault),
    "dense": lambda scene, fault: scene.with_store(fault, VectorQuery),
    "lexical": lambda scene, fault: scene.with_store(fault, TextQuery),
    "both legs": lambda scene, fault: scene.with_store(fault, VectorQuery, TextQuery),
    "retriever": lambda scene, fault: replace(
        scene.parts, retriever=put(scene.parts.retriever, "retrieve", fault)
    ),
    "current": lambda scene, fault: scene.with_catalog("documents.held", fault),
    "rerank": lambda scene, fault: replace(
        scene.parts, reranker=put(scene.parts.reranker, "rerank", fault)
    ),
    "pack": lambda scene, fault: scene.with_embedder("count_tokens", fault),
    "record": lambda scene, fault: scene.with_catalog("activity.record_lookup", fault),
    "cached answer": lambda scene, fault: _with_cache(scene, "result", fault),
    "cached vector": lambda scene, fault: _with_cache(scene, "vector", fault),
    "keep answer": lambda scene, fault: _with_cache(scene, "keep_result", fault),
    "keep vector": lambda scene, fault: _with_cache(scene, "keep_vector", fault),
}


def _with_cache(scene: Scene, method: str, fault: Fault) -> LookupParts:
    return replace(scene.parts, hot=put(HotQueries(vectors=10, results=10), method, fault))


def steps_of(scene: Scene, stage: str, fault: Fault) -> tuple[LookupSteps, Any]:
    """The steps of the lookup, and its cache; a corpus's own rules are a step without a port."""
    if stage in PLACES:
        parts = PLACES[stage](scene, fault)
        return direct_steps(parts), parts.hot
    steps = direct_steps(scene.parts)
    return replace(steps, **{stage: fault.on(getattr(steps, stage))}), scene.parts.hot


def odd() -> Fault:
    """An error that no port promises, with words of a vendor."""
    return raising(RuntimeError(VENDOR))


def each(**changes: Any) -> Fault:
    """Every hit with other values; a score only where the hit has one."""

    def changed(hit: Hit) -> Hit:
        scores = ("similarity", "lexical")
        given = {
            name: value
            for name, value in changes.items()
            if name not in scores or getattr(hit, name) is not None
        }
        return replace(hit, **given)

    return changing(lambda hits: [changed(hit) for hit in hits])


def columns(**values: Any) -> Fault:
    """Every hit with other columns; ``...`` takes one away."""

    def changed(hit: Hit) -> Hit:
        held = {**hit.columns, **values}
        return replace(hit, columns={name: v for name, v in held.items() if v is not ...})

    return changing(lambda hits: [changed(hit) for hit in hits])


def scored(*scores: float) -> Callable[[list[Ranked]], list[Ranked]]:
    """The ranking with these scores for its first passages."""
    return lambda ranked: [
        *(Ranked(place, score) for place, score in enumerate(scores)),
        *ranked[len(scores) :],
    ]


def column(name: str, value: Any) -> Callable[[Any], Any]:
    """The table of candidates with one value in a whole column."""

    def changed(table: Any) -> Any:
        rows = [{**row, name: value} for row in table.to_pylist()]
        return CANDIDATES.from_rows(rows)

    return changed


class Cell(NamedTuple):
    """``expected``: codes of the degradations, or the error; ``blocks``: whether any are left."""

    stage: str
    name: str
    fault: Callable[[], Fault]
    expected: tuple[str, ...] | type[PinciteError]
    blocks: bool = True


def _raising(error: Callable[[], BaseException]) -> Callable[[], Fault]:
    return lambda: raising(error())


def _own(kind: type[PinciteError]) -> Callable[[], Fault]:
    return lambda: raising(kind("It failed."))


CELLS = [
    # What is live cannot be told: there is nothing to search in.
    Cell("pin", "own error", _own(CatalogUnreachable), CatalogUnreachable),
    Cell("pin", "odd error", odd, CatalogUnreachable),
    Cell("pin", "hang", hanging, CatalogUnreachable),
    Cell("pin", "empty", lambda: answering(None), ("corpus_empty",), False),
    Cell("pin", "malformed", lambda: answering("live"), CatalogUnreachable),
    Cell("revision", "own error", _own(CatalogUnreachable), CatalogUnreachable),
    Cell("revision", "odd error", odd, CatalogUnreachable),
    Cell("revision", "hang", hanging, CatalogUnreachable),
    Cell("revision", "nan", lambda: answering(NAN), ()),
    Cell("recipe", "own error", _own(EmbedderChanged), EmbedderChanged),
    # Without hints.
    Cell("l0", "own error", _own(CatalogUnreachable), ("l0_unavailable",)),
    Cell("l0", "odd error", odd, ("l0_unavailable",)),
    Cell("l0", "hang", hanging, ("l0_unavailable",)),
    Cell("l0", "empty", lambda: answering([]), ()),
    Cell("l0", "malformed", lambda: answering([None]), ("l0_unavailable",)),
    Cell("l0 words", "own error", _own(CatalogUnreachable), ("l0_unavailable",)),
    Cell("l0 words", "hang", hanging, ("l0_unavailable",)),
    Cell("l0 words", "malformed", lambda: answering({"orchard": None}), ("l0_unavailable",)),
    # Full text answers without a vector.
    Cell("embed", "unreachable", _own(EmbedderUnreachable), ("embedder_unreachable",)),
    Cell("embed", "refused", _own(EmbedderRefused), ("embedder_refused",)),
    Cell("embed", "odd error", odd, ("embedding_invalid",)),
    Cell("embed", "cancels itself", _raising(asyncio.CancelledError), ("embedding_invalid",)),
    Cell("embed", "hang", hanging, ("embedder_unreachable",)),
    Cell("embed", "empty", lambda: answering(np.zeros((0, 384))), ("embedding_invalid",)),
    Cell("embed", "nothing", lambda: answering(None), ("embedding_invalid",)),
    Cell("embed", "other width", lambda: changing(lambda v: v[:, :9]), ("embedding_invalid",)),
    Cell("embed", "two of them", lambda: changing(lambda v: [*v, *v]), ("embedding_invalid",)),
    Cell("embed", "nan", lambda: changing(lambda v: v * NAN), ("embedding_invalid",)),
    Cell("embed", "zero", lambda: changing(lambda v: v * 0), ("embedding_invalid",)),
    Cell("embed", "query refused", _own(EmbeddingRejected), RequestInvalid),
    # One leg answers for both.
    Cell("dense", "own error", _own(StoreUnreachable), ("store_unreachable",)),
    Cell("dense", "refused", _own(StoreRejected), ("store_rejected",)),
    Cell("dense", "odd error", odd, ("store_rejected",)),
    Cell("dense", "hang", hanging, ("store_unreachable", "rerank_timeout")),
    Cell("dense", "empty", lambda: answering([]), ()),
    Cell("dense", "malformed", lambda: answering(None), ("store_rejected",)),
    Cell("dense", "no hits at all", lambda: answering(["a", "b"]), ("store_rejected",)),
    Cell("dense", "no content", lambda: columns(content=...), ("store_rejected",)),
    Cell("dense", "no identity", lambda: columns(doc_id="", chunk_index=-1), ()),
    Cell("dense", "odd identity", lambda: columns(doc_id=5, chunk_index="x"), ()),
    Cell("dense", "broken text", lambda: columns(content="\ud800"), ("store_rejected",)),
    Cell("dense", "odd key", lambda: each(vector_id=7), ("store_rejected",)),
    Cell("dense", "nan", lambda: each(similarity=NAN, raw_score=NAN), ()),
    Cell("dense", "infinite", lambda: each(similarity=float("inf")), ()),
    Cell("lexical", "own error", _own(StoreUnreachable), ("store_unreachable",)),
    Cell("lexical", "locked", _own(StoreLocked), ("store_locked",)),
    Cell("lexical", "unsupported", _own(FullTextUnsupported), ("hybrid_unsupported",)),
    Cell("lexical", "odd error", odd, ("store_rejected",)),
    Cell("lexical", "hang", hanging, ("store_unreachable", "rerank_timeout")),
    Cell("lexical", "empty", lambda: answering([]), ()),
    Cell("lexical", "malformed", lambda: answering({"hits": 3}), ("store_rejected",)),
    Cell("lexical", "nan", lambda: each(lexical=NAN, raw_score=NAN), ()),
    # Neither leg: nothing is found, or there is no way to search.
    Cell("both legs", "own error", _own(StoreUnreachable), StoreUnreachable),
    Cell("both legs", "odd error", odd, StoreRejected),
    Cell("both legs", "hang", hanging, StoreUnreachable),
    Cell("both legs", "empty", lambda: answering([]), (), False),
    Cell("both legs", "malformed", lambda: answering("hits"), StoreRejected),
    Cell("both legs", "nan", lambda: each(similarity=NAN, lexical=NAN, raw_score=NAN), ()),
    Cell("both legs", "one hit many times", lambda: changing(lambda h: h * 40), ()),
    Cell("retriever", "own error", _own(StoreUnreachable), StoreUnreachable),
    Cell("retriever", "odd error", odd, StoreRejected),
    Cell("retriever", "hang", hanging, StoreUnreachable),
    Cell("retriever", "malformed", lambda: answering(None), StoreRejected),
    # Versions are not compared.
    Cell("current", "own error", _own(CatalogUnreachable), ("catalog_unreachable",)),
    Cell("current", "odd error", odd, ("catalog_unreachable",)),
    Cell("current", "hang", hanging, ("catalog_unreachable",)),
    Cell("current", "empty", lambda: answering({}), (), False),
    Cell("current", "malformed", lambda: answering([1, 2]), ("catalog_unreachable",)),
    # The order is kept.
    Cell("rerank", "timeout", _own(RerankerTimeout), ("rerank_timeout",)),
    Cell("rerank", "unreachable", _own(RerankerUnreachable), ("rerank_unreachable",)),
    Cell("rerank", "refused", _own(RerankerRefused), ("rerank_refused",)),
    Cell("rerank", "invalid", _own(RerankingInvalid), ("rerank_malformed",)),
    Cell("rerank", "odd error", odd, ("rerank_failed",)),
    Cell("rerank", "cancels itself", _raising(asyncio.CancelledError), ("rerank_failed",)),
    Cell("rerank", "hang", hanging, ("rerank_timeout",)),
    Cell("rerank", "empty", lambda: answering([]), ("rerank_too_few",)),
    Cell("rerank", "too many", lambda: changing(lambda r: [*r, r[0]]), ("rerank_too_many",)),
    Cell("rerank", "malformed", lambda: answering(None), ("rerank_malformed",)),
    Cell("rerank", "nan", lambda: changing(scored(NAN)), ("rerank_not_finite",)),
    Cell(
        "rerank",
        "out of range",
        lambda: changing(lambda r: [*r[1:], Ranked(99, 1.0)]),
        ("rerank_index_out_of_range",),
    ),
    Cell(
        "rerank",
        "one twice",
        lambda: changing(lambda r: [*r[1:], r[1]]),
        ("rerank_index_repeated",),
    ),
    # The corpus's own rules are left out.
    Cell("adjust", "own error", _own(RequestInvalid), ("adjust_failed",)),
    Cell("adjust", "odd error", odd, ("adjust_failed",)),
    Cell("adjust", "hang", hanging, ("adjust_failed",)),
    Cell("adjust", "empty", lambda: changing(lambda t: t.slice(0, 0)), ("adjust_failed",)),
    Cell("adjust", "malformed", lambda: answering(None), ("adjust_failed",)),
    Cell(
        "adjust",
        "lost column",
        lambda: changing(lambda t: t.drop_columns(["score"])),
        ("adjust_failed",),
    ),
    Cell("adjust", "nan", lambda: changing(column("score", NAN)), ()),
    # Tokens are estimated, never too few.
    Cell("pack", "own error", _own(EmbeddingInvalid), ("tokens_estimated",)),
    Cell("pack", "odd error", odd, ("tokens_estimated",)),
    Cell("pack", "hang", hanging, ("tokens_estimated",)),
    Cell("pack", "empty", lambda: answering([]), ("tokens_estimated",)),
    Cell("pack", "malformed", lambda: answering(["many"]), ("tokens_estimated",)),
    Cell("pack", "nan", lambda: answering([NAN]), ("tokens_estimated",)),
    Cell("pack", "negative", lambda: answering([-5]), ("tokens_estimated",)),
    # The answer is the same without its line.
    Cell("record", "own error", _own(CatalogUnreachable), ("lookup_not_recorded",)),
    Cell("record", "odd error", odd, ("lookup_not_recorded",)),
    Cell("record", "hang", hanging, ("lookup_not_recorded",)),
    # A cache is a help; without it everything is done anew.
    Cell("cached answer", "odd error", odd, ("cache_failed",)),
    Cell("cached answer", "malformed", lambda: answering("an answer"), ("cache_failed",)),
    Cell("cached vector", "odd error", odd, ()),
    Cell("cached vector", "malformed", lambda: answering("a vector"), ()),
    Cell("cached vector", "nan", lambda: answering(np.full(384, NAN)), ()),
    Cell("keep answer", "odd error", odd, ("cache_failed",)),
    Cell("keep vector", "odd error", odd, ()),
]


def test_the_table_has_every_stage_and_no_cell_twice() -> None:
    names = [(cell.stage, cell.name) for cell in CELLS]
    assert len(set(names)) == len(names) >= 40
    assert {stage for stage, _ in names} == {*PLACES, "adjust"}


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.stage}: {cell.name}")
def test_a_lookup_outlives_it(scene: Scene, caplog: pytest.LogCaptureFixture, cell: Cell) -> None:
    fault = cell.fault()
    steps, hot = steps_of(scene, cell.stage, fault)
    request = _request(HANG_MS if fault.hangs else TIMEOUT_MS)
    began = time.monotonic()
    if isinstance(cell.expected, tuple):
        result = asyncio.run(_lookup(request, steps, hot, fault))
        took = time.monotonic() - began
        _check_answer(result, cell)
    else:
        with pytest.raises(cell.expected) as caught:
            asyncio.run(_lookup(request, steps, hot, fault))
        took = time.monotonic() - began
        _check_silent(json.dumps(caught.value.as_dict()))
        assert caught.value.code == cell.expected.code
    assert fault.reached.is_set()
    assert took < request.timeout_ms / 1000 + SLACK_S
    _check_silent(caplog.text)


async def _lookup(
    request: LookupRequest, steps: LookupSteps, hot: HotQueries, fault: Fault
) -> LookupResult:
    try:
        return await lookup(request, steps, hot)
    finally:
        # The loop waits for its threads when it is closed.
        fault.release()


def _request(timeout_ms: int) -> LookupRequest:
    return LookupRequest(
        QUERY, kb_scope="team", mode=Mode.HYBRID, rerank=True, timeout_ms=timeout_ms
    )


def _check_answer(result: LookupResult, cell: Cell) -> None:
    assert tuple(codes(result)) == cell.expected
    assert all(one.message and VENDOR not in one.message for one in result.trace.degradations)
    _check_silent(result.to_json())
    assert bool(result.blocks) == cell.blocks
    assert result.evidence_status != "NONE" if cell.blocks else result.evidence_status == "NONE"
    if cell.blocks:
        shown = document(result)["context"]["blocks"]
        assert ANSWER in [block["content"] for block in shown]
        assert {block["docId"] for block in shown} <= {"orchard", "press", None}
        assert all(block["tokens"] >= 1 for block in shown)


def _check_silent(text: str) -> None:
    assert [word for word in NEVER if word in text.casefold()] == []


# What the cells compare with, and rows that no store should give.


def test_without_a_fault_every_stage_has_its_part(scene: Scene) -> None:
    steps, hot = direct_steps(scene.parts), HotQueries(results=10, vectors=10)
    result = asyncio.run(lookup(_request(TIMEOUT_MS), steps, hot))
    assert codes(result) == []
    assert keys(result) == ["orchard#chunk-0", "orchard#chunk-1"]
    assert result.blocks[0].candidate.hit_reasons == ("dense", "lexical", "l0_category")
    assert (result.trace.selected_attempt, result.rerank.applied) == ("FILTERED_VECTOR", True)
    _check_silent(result.to_json())


def test_the_secret_would_come_first_if_it_were_seen(scene: Scene) -> None:
    result = asyncio.run(
        lookup(replace(_request(TIMEOUT_MS), kb_scope="", rerank=False), direct_steps(scene.parts))
    )
    assert keys(result)[0] == "vault#chunk-0"


@pytest.mark.parametrize("legs", [(VectorQuery,), (TextQuery,), (VectorQuery, TextQuery)])
@pytest.mark.parametrize("scope", [{"kb_scope": "team"}, {"exclude_scopes": ("board",)}])
def test_a_store_that_forgets_the_filter_shows_nothing_of_it(
    scene: Scene, legs: tuple[type, ...], scope: dict[str, Any]
) -> None:
    store = scene.corpus.store

    async def search(collection: str, query: Any) -> list[Hit]:
        filter = None if isinstance(query, legs) else query.filter
        hits: list[Hit] = await store.search(collection, replace(query, filter=filter))
        return hits

    parts = parts_of(scene.corpus, store=Instead(store, search=search), reranker=BlendReranker())
    request = replace(_request(TIMEOUT_MS), **{"kb_scope": "", **scope})
    result = asyncio.run(lookup(request, direct_steps(parts)))
    assert codes(result) == ["store_rejected"]
    assert ANSWER in [block.content for block in result.blocks]
    # The scope that the caller excludes is named in the filter.
    _check_silent(result.to_json().replace('not in [\\"board\\"]', ""))


def test_rows_that_all_belong_to_another_scope_are_no_evidence(scene: Scene) -> None:
    store = scene.corpus.store

    async def search(collection: str, query: Any) -> list[Hit]:
        hits: list[Hit] = await store.search(
            collection, replace(query, filter=Eq("kb_scope", "board"))
        )
        return hits

    parts = parts_of(scene.corpus, store=Instead(store, search=search))
    result = asyncio.run(lookup(_request(TIMEOUT_MS), direct_steps(parts)))
    assert (result.evidence_status, codes(result)) == ("NONE", ["store_rejected"])
    _check_silent(result.to_json())
