import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.identity import chunk_key
from pincite.retrieval.candidates import Candidate, to_table
from pincite.retrieval.fusion import K, Leg, fuse
from pincite.retrieval.knowledge import KnowledgeSearchHit
from pincite.store.port import Mode

MakeHit = Callable[..., KnowledgeSearchHit]

NAN = math.nan
DENSE, LEXICAL = Mode.DENSE, Mode.LEXICAL


def _fused(
    dense: Sequence[KnowledgeSearchHit], lexical: Sequence[KnowledgeSearchHit]
) -> tuple[Candidate, ...]:
    return fuse([Leg(DENSE, dense), Leg(LEXICAL, lexical)], "docs", 1)


def _alone(mode: Mode, *hits: KnowledgeSearchHit) -> tuple[Candidate, ...]:
    return fuse([Leg(mode, hits)], "docs", 1)


def _keys(candidates: Sequence[Candidate]) -> list[str]:
    return [candidate.evidence_key for candidate in candidates]


def _part(rank: int) -> float:
    return 1 / (K + rank)


def test_each_leg_gives_the_reciprocal_of_the_rank(hit: MakeHit) -> None:
    made = _fused(
        [hit("a", similarity=0.9), hit("b", similarity=0.8), hit("c", similarity=0.7)],
        [hit("c", similarity=None, lexical=7.0), hit("d", similarity=None, lexical=2.0)],
    )
    expected = {
        "a#chunk-0": _part(1),
        "b#chunk-0": _part(2),
        "c#chunk-0": _part(3) + _part(1),
        "d#chunk-0": _part(2),
    }
    assert {c.evidence_key: c.fused for c in made} == pytest.approx(expected)
    assert [c.score for c in made] == [c.fused for c in made]
    assert made[0].evidence_key == "c#chunk-0"


def test_the_score_of_a_leg_does_not_count_its_rank_does(hit: MakeHit) -> None:
    far = _fused([hit("a", similarity=0.99), hit("b", similarity=-0.9)], [])
    near = _fused([hit("a", similarity=0.11), hit("b", similarity=0.10)], [])
    assert [c.fused for c in far] == [c.fused for c in near]


def test_hits_of_one_key_are_one_candidate_with_reasons_and_scores_of_both(hit: MakeHit) -> None:
    (made,) = _fused([hit("a", similarity=0.9)], [hit("a", similarity=None, lexical=4.0)])
    assert (made.evidence_key, made.hit_reasons) == ("a#chunk-0", ("dense", "lexical"))
    assert (made.dense, made.lexical) == (0.9, 4.0)


@pytest.mark.parametrize(
    ("dense_first", "content"), [(True, "of dense"), (False, "of lexical"), (None, "of dense")]
)
def test_the_content_is_that_of_the_leg_that_ranked_it_higher(
    hit: MakeHit, dense_first: bool | None, content: str
) -> None:
    """Where both ranked it alike it is that of the first leg."""
    dense = [hit("a", similarity=0.5, content="of dense")]
    words = [hit("a", similarity=None, lexical=5.0, content="of lexical", doc_version=2)]
    if dense_first is True:
        words.append(hit("b", similarity=None, lexical=9.0))
    if dense_first is False:
        dense.append(hit("b", similarity=0.9))
    made = next(c for c in _fused(dense, words) if c.doc_id == "a")
    assert (made.content, made.dense, made.lexical) == (content, 0.5, 5.0)
    assert made.doc_version == (1 if content == "of dense" else 2)


def test_one_leg_alone_keeps_its_own_scores_and_nothing_is_fused(hit: MakeHit) -> None:
    (dense,) = _alone(DENSE, hit("a", similarity=0.3))
    assert (dense.score, dense.dense, dense.lexical, dense.fused) == (0.3, 0.3, None, None)
    (words,) = _alone(LEXICAL, hit("a", similarity=None, lexical=7.5))
    assert (words.score, words.dense, words.lexical, words.fused) == (7.5, None, 7.5, None)
    assert (dense.hit_reasons, words.hit_reasons) == (("dense",), ("lexical",))


def test_an_empty_leg_beside_another_changes_no_order(hit: MakeHit) -> None:
    hits = [hit("a", similarity=0.2), hit("b", similarity=0.9)]
    assert _keys(_fused(hits, [])) == _keys(_alone(DENSE, *hits)) == ["b#chunk-0", "a#chunk-0"]
    assert _fused([], []) == ()


def test_a_candidate_has_all_that_the_hit_says(hit: MakeHit) -> None:
    found = hit(
        "a",
        2,
        source="docs/a.md",
        title="A",
        heading="One > Two",
        content="words",
        char_start=10,
        char_end=15,
        doc_version=3,
        kb_scope="s",
        category="c",
        expires_at=9,
        metadata={"b": "é"},
    )
    (made,) = fuse([Leg(DENSE, [found])], "web", 4)
    told = {name: value for name, value in vars(found).items() if name in vars(made)}
    assert json.loads(made.metadata) == told.pop("metadata")
    assert {name: getattr(made, name) for name in told} == told
    assert (made.corpus, made.generation, made.original_rank) == ("web", 4, 0)
    (foreign,) = fuse([Leg(DENSE, [found])], "docs", None)
    assert foreign.generation is None


@pytest.mark.parametrize(
    "missing", [{"doc_id": None}, {"doc_id": ""}, {"chunk_index": None}, {"chunk_index": -1}]
)
def test_a_row_without_a_chunks_identity_is_known_by_its_vector(
    hit: MakeHit, missing: dict[str, object]
) -> None:
    rows = [hit(**{"doc_id": "a", **missing, "vector_id": "v1"}), hit("b")]
    assert "vector:v1" in _keys(_alone(DENSE, *rows))
    (made,) = _fused(rows[:1], [replace(rows[0], similarity=None, lexical=1.0)])
    assert (made.evidence_key, made.hit_reasons) == ("vector:v1", ("dense", "lexical"))


@pytest.mark.parametrize(
    "missing",
    [
        {"doc_id": None, "vector_id": None},
        {"doc_id": "", "vector_id": ""},
        {"chunk_index": None, "vector_id": None},
        {"chunk_index": -1, "vector_id": ""},
    ],
)
def test_rows_without_any_identity_are_known_by_their_rank_and_never_united(
    hit: MakeHit, missing: dict[str, object]
) -> None:
    same = {"doc_id": "a", **missing, "content": "same"}
    one, two = hit(**same, similarity=0.1), hit(**same, similarity=0.9)
    assert [(c.evidence_key, c.dense) for c in _alone(DENSE, one, two)] == [
        ("rank:0", 0.9),
        ("rank:1", 0.1),
    ]
    both = _fused([one, two], [replace(one, similarity=None, lexical=1.0)])
    assert sorted(_keys(both)) == ["rank:0", "rank:1", "rank:2"]


def test_the_rank_is_counted_after_the_legs_are_fused(hit: MakeHit) -> None:
    nameless = hit(None, similarity=0.1, vector_id=None)
    made = _fused(
        [hit("a", similarity=0.9), hit("b", similarity=0.5), nameless],
        [hit("a", similarity=None, lexical=2.0), hit("b", similarity=None, lexical=1.0)],
    )
    assert _keys(made) == ["a#chunk-0", "b#chunk-0", "rank:2"]
    assert [c.original_rank for c in made] == [0, 1, 2]


@pytest.mark.parametrize("score", [NAN, math.inf, -math.inf, None])
def test_a_score_that_cannot_be_used_is_missing_and_ranks_last(
    hit: MakeHit, score: float | None
) -> None:
    rows = [hit("a", similarity=score), hit("z", similarity=-0.9)]
    alone = _alone(DENSE, *rows)
    assert [(c.doc_id, c.score, c.dense) for c in alone] == [("z", -0.9, -0.9), ("a", None, None)]
    beside = {c.doc_id: c.fused for c in _fused(rows, [])}
    assert beside == {"z": _part(1), "a": _part(2)}


def test_of_two_hits_of_one_key_in_one_leg_the_better_counts_once(hit: MakeHit) -> None:
    rows = [hit("a", similarity=0.2, content="low"), hit("a", similarity=0.8, content="high")]
    (made,) = _fused(rows, [])
    assert (made.content, made.dense, made.fused) == ("high", 0.8, _part(1))
    _, behind = _fused([*rows, hit("b", similarity=0.1)], [])
    assert behind.fused == _part(2)


def test_equal_scores_rank_by_evidence_key_whatever_the_rows_are_called(hit: MakeHit) -> None:
    rows = [hit("z", vector_id="1"), hit("a", vector_id="2"), hit("m", vector_id="0")]
    made = _fused(rows, [])
    assert [c.doc_id for c in made] == ["a", "m", "z"]
    assert [c.fused for c in made] == [_part(rank) for rank in (1, 2, 3)]
    assert [c.doc_id for c in _alone(DENSE, *rows)] == ["a", "m", "z"]


def test_equal_fused_scores_are_ordered_by_evidence_key(hit: MakeHit) -> None:
    dense = [hit("b", similarity=0.9), hit("a", similarity=0.8)]
    words = [
        hit("a", similarity=None, lexical=9.0),
        hit("b", similarity=None, lexical=8.0),
    ]
    made = _fused(dense, words)
    assert made[0].fused == made[1].fused == _part(1) + _part(2)
    assert [c.doc_id for c in made] == ["a", "b"]


SCORES = st.sampled_from([None, NAN, -1.0, 0.0, 0.25, 0.25, 1.0])
ROW = st.tuples(
    st.sampled_from(["a", "b", "c#chunk-1", "", None]),
    st.sampled_from([None, -1, 0, 1, 12]),
    st.sampled_from(["v1", "v2", "", None]),
    st.sampled_from(["one", "two"]),
    SCORES,
)
Rows = list[tuple[str | None, int | None, str | None, str, float | None]]
ROWS = st.lists(ROW, max_size=12)


def _legs(hit: MakeHit, dense: Rows, lexical: Rows) -> list[Leg]:
    def made(row: tuple[object, ...], score: str) -> KnowledgeSearchHit:
        doc_id, index, vector_id, content, value = row
        named = {"doc_id": doc_id, "chunk_index": index, "vector_id": vector_id}
        return hit(**{**named, "content": content, "similarity": None, score: value})

    return [
        Leg(DENSE, [made(row, "similarity") for row in dense]),
        Leg(LEXICAL, [made(row, "lexical") for row in lexical]),
    ]


@settings(max_examples=150, deadline=None)
@given(ROWS, ROWS, st.integers(), st.sampled_from([1, 2]))
def test_the_order_of_arrival_changes_nothing(
    hit: MakeHit, dense: Rows, lexical: Rows, seed: int, count: int
) -> None:
    legs = _legs(hit, dense, lexical)[:count]
    shuffler = random.Random(seed)
    other = [Leg(leg.mode, shuffler.sample(leg.hits, len(leg.hits))) for leg in legs]
    assert _told(fuse(other, "docs", 1)) == _told(fuse(legs, "docs", 1))


def _told(candidates: Sequence[Candidate]) -> list[tuple[object, ...]]:
    """All but the ways to spell an absent identity."""
    names = ("evidence_key", "content", "hit_reasons", "score", "dense", "lexical", "fused")
    return [tuple(getattr(candidate, name) for name in names) for candidate in candidates]


@settings(max_examples=150, deadline=None)
@given(ROWS, ROWS)
def test_every_row_becomes_part_of_exactly_one_candidate(
    hit: MakeHit, dense: Rows, lexical: Rows
) -> None:
    legs = _legs(hit, dense, lexical)
    made = fuse(legs, "docs", 1)
    keys = _keys(made)
    assert len(set(keys)) == len(keys)
    assert [c.original_rank for c in made] == list(range(len(made)))
    for leg in legs:
        found = [c for c in made if leg.mode.value in c.hit_reasons]
        assert {_name(h) for h in leg.hits} == {_name(c) for c in found}
    assert all(c.hit_reasons for c in made)
    assert to_table(made).num_rows == len(made)


@settings(max_examples=150, deadline=None)
@given(ROWS, ROWS)
def test_the_ranking_falls_by_score_and_every_number_in_it_is_finite(
    hit: MakeHit, dense: Rows, lexical: Rows
) -> None:
    made = _fused(*(leg.hits for leg in _legs(hit, dense, lexical)))
    scores = [c.score or 0.0 for c in made]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)
    named = [c for c in made if _name(c) is not None]
    assert named == sorted(named, key=lambda c: (-(c.score or 0.0), c.evidence_key))
    numbers = [value for c in made for value in (c.dense, c.lexical, c.fused) if value is not None]
    assert all(map(math.isfinite, numbers))


def _name(row: KnowledgeSearchHit | Candidate) -> str | None:
    """The evidence key by the rule of identity, ``None`` without any."""
    if row.doc_id and row.chunk_index is not None and row.chunk_index >= 0:
        return chunk_key(row.doc_id, row.chunk_index)
    return f"vector:{row.vector_id}" if row.vector_id else None
