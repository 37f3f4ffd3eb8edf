from collections.abc import Callable
from typing import Any

import pytest

from pincite.analysis import analyze
from pincite.embedding.hash import HashEmbedder
from pincite.embedding.port import ScoreProfile
from pincite.errors import StoreUnreachable
from pincite.retrieval.candidates import Candidate, to_table
from pincite.retrieval.hints import Hints
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.retriever import Found
from pincite.retrieval.search import (
    FILTERED,
    RETRY,
    UNFILTERED,
    Lines,
    Question,
    Tried,
    better,
    failed,
    fallback_reason,
    first_attempt,
    lines_of,
    outcome,
    question_of,
    search_request,
    tried,
)
from pincite.schemas.candidates import CANDIDATES
from pincite.store.port import Mode

Make = Callable[..., Candidate]

DENSE, LEXICAL, HYBRID = Mode.DENSE, Mode.LEXICAL, Mode.HYBRID
VECTOR = HashEmbedder().vectors(["apples"])[0]
NO_LINES = Lines(None, None, None)
PROFILE = ScoreProfile(threshold=0.3, low_quality=0.5, weak=0.6)


def _found(*candidates: Candidate, mode: Mode = DENSE) -> Found:
    return Found(mode, "a filter", len(candidates), to_table(candidates))


def _question(**fields: Any) -> Question:
    values = {"text": "q", "mode": DENSE, "vector": VECTOR, "terms": ("q",)}
    return Question(**{**values, **fields})


def _tried(make: Make, result: str, name: str = FILTERED) -> Tried:
    """An attempt that ended so, by the rules themselves."""
    if result == "failed":
        return failed(name, "docs", _question(), StoreUnreachable("Gone."), 5)
    rows = {"evidence": [make("a", dense=0.9)], "low_quality": [make("a", dense=0.4)]}
    lines = Lines(0.3, 0.5, None)
    one = tried(name, "docs", _question(), _found(*rows.get(result, [])), lines, 5)
    assert one.record.outcome == result
    return one


def test_the_models_profile_gives_the_lines() -> None:
    assert lines_of(LookupRequest("q"), PROFILE) == Lines(0.3, 0.5, 0.6)
    assert lines_of(LookupRequest("q"), ScoreProfile()) == NO_LINES


def test_the_request_overrides_each_line_also_with_zero() -> None:
    request = LookupRequest("q", threshold=0.0, low_quality=0.1, weak=-1.0)
    assert lines_of(request, PROFILE) == Lines(0.0, 0.1, -1.0)
    assert lines_of(LookupRequest("q", weak=0.0), PROFILE) == Lines(0.3, 0.5, 0.0)


def test_low_quality_is_never_under_the_threshold() -> None:
    assert lines_of(LookupRequest("q", threshold=0.8), PROFILE).low_quality == 0.8
    assert lines_of(LookupRequest("q", low_quality=0.1), PROFILE).low_quality == 0.3
    assert lines_of(LookupRequest("q", threshold=0.8), ScoreProfile()).low_quality is None


@pytest.mark.parametrize(
    ("wished", "has_vector", "mode"),
    [
        (DENSE, True, DENSE),
        (HYBRID, True, HYBRID),
        (LEXICAL, False, LEXICAL),
        (HYBRID, False, LEXICAL),
        (DENSE, False, LEXICAL),
        (LEXICAL, True, DENSE),
    ],
)
def test_the_mode_is_one_that_can_answer(wished: Mode, has_vector: bool, mode: Mode) -> None:
    vector = VECTOR if has_vector else None
    made = question_of(LookupRequest("q", mode=wished), "q", Hints(), vector)
    assert (made.mode, made.vector is vector) == (mode, True)


@pytest.mark.parametrize(
    ("given", "predicted", "category", "hinted"),
    [
        ("", "", "", False),
        ("", "food", "food", True),
        ("plants", "", "plants", False),
        ("plants", "food", "plants", False),
    ],
)
def test_the_callers_category_comes_before_a_predicted_one(
    given: str, predicted: str, category: str, hinted: bool
) -> None:
    request = LookupRequest("q", category=given)
    made = question_of(request, "q", Hints(predicted), VECTOR)
    assert (made.category, made.hinted) == (category, hinted)
    assert first_attempt(made) == (FILTERED if category else UNFILTERED)


def test_the_terms_are_those_of_the_query_and_hints_add_theirs_beside() -> None:
    made = question_of(LookupRequest("q"), "Ripe apples 苹果", Hints(expansion=("fruit",)), VECTOR)
    assert made.terms == tuple(analyze("Ripe apples 苹果"))
    assert made.expansion == ("fruit",)


SCOPED = LookupRequest(
    "q",
    corpus="memory",
    kb_scope="team",
    exclude_scopes=("x",),
    user_id="u",
    assistant_id="a",
    conversation_id="c",
    max_sensitivity=3,
    retrieve_k=7,
)
NOW = 1_900_000_000_000


@pytest.mark.parametrize(
    ("name", "category", "terms"),
    [(FILTERED, "food", "appl fruit"), (UNFILTERED, "", "appl fruit"), (RETRY, "", "appl")],
)
def test_the_retry_drops_the_category_and_the_hints_and_no_scope(
    name: str, category: str, terms: str
) -> None:
    question = _question(mode=HYBRID, terms=("appl",), category="food", expansion=("fruit",))
    made = search_request(SCOPED, question, name, 1.25, NOW)
    assert (made.category, made.terms) == (category, terms)
    assert (made.mode, made.top_k, made.timeout_s) == (HYBRID, 7, 1.25)
    assert made.vector is VECTOR
    assert (made.kb_scope, made.exclude_scopes) == ("team", ("x",))
    assert made.scope_ids == {"user_id": "u", "assistant_id": "a", "conversation_id": "c"}
    assert (made.alive_at, made.max_sensitivity) == (NOW, 3)


def test_files_neither_expire_nor_have_levels() -> None:
    request = LookupRequest("q", max_sensitivity=3)
    made = search_request(request, _question(mode=HYBRID), UNFILTERED, 1.0, NOW)
    assert (made.alive_at, made.max_sensitivity) == (0, None)


@pytest.mark.parametrize(
    ("dense", "lines", "expected"),
    [
        ([], NO_LINES, "no_evidence"),
        ([0.1], NO_LINES, "evidence"),
        ([0.29], Lines(0.3, 0.5, None), "no_evidence"),
        ([0.3], Lines(0.3, 0.5, None), "low_quality"),
        ([0.49, 0.1], Lines(None, 0.5, None), "low_quality"),
        ([0.5], Lines(0.3, 0.5, None), "evidence"),
        ([None], NO_LINES, "low_quality"),
        ([None], Lines(-1.0, None, None), "no_evidence"),
        ([None, 0.6], Lines(0.3, 0.5, None), "evidence"),
    ],
)
def test_an_attempt_is_worth_what_its_best_cosine_says(
    make: Make, dense: list[float | None], lines: Lines, expected: str
) -> None:
    rows = [make("a", index, dense=score) for index, score in enumerate(dense)]
    assert outcome(_found(*rows), lines) == expected


def test_in_hybrid_mode_words_alone_are_weak_evidence(make: Make) -> None:
    words = make("a", dense=None, lexical=3.0, hit_reasons=("lexical",))
    assert outcome(_found(words, mode=HYBRID), Lines(0.3, 0.5, None)) == "low_quality"
    both = make("b", dense=0.6, lexical=1.0, hit_reasons=("dense", "lexical"))
    assert outcome(_found(words, both, mode=HYBRID), Lines(0.3, 0.5, None)) == "evidence"


def test_without_a_dense_leg_any_hit_counts(make: Make) -> None:
    words = make("a", dense=None, lexical=3.0, hit_reasons=("lexical",))
    assert outcome(_found(words, mode=LEXICAL), Lines(0.3, 0.5, None)) == "evidence"
    assert outcome(_found(mode=LEXICAL), NO_LINES) == "no_evidence"


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("evidence", None),
        ("no_evidence", "filtered_vector_no_evidence"),
        ("low_quality", "filtered_vector_low_quality"),
        ("failed", "filtered_vector_failed"),
    ],
)
def test_only_a_filtered_attempt_calls_for_the_retry(
    make: Make, result: str, reason: str | None
) -> None:
    assert fallback_reason(_tried(make, result)) == reason
    assert fallback_reason(_tried(make, result, UNFILTERED)) is None


KEEPS = {("low_quality", "no_evidence"), ("low_quality", "failed"), ("no_evidence", "failed")}


@pytest.mark.parametrize("first", ["no_evidence", "low_quality", "failed"])
@pytest.mark.parametrize("second", ["evidence", "no_evidence", "low_quality", "failed"])
def test_the_retry_is_taken_unless_it_lost_what_the_first_had(
    make: Make, first: str, second: str
) -> None:
    one, other = _tried(make, first), _tried(make, second, RETRY)
    # An attempt that found nothing has answered; one that failed has not.
    keeps = (first, second) in KEEPS
    assert better(one, other) is (one if keeps else other)


@pytest.mark.parametrize(
    ("name", "hinted", "added"),
    [
        (FILTERED, True, ["l0_category"]),
        (FILTERED, False, ["category"]),
        (UNFILTERED, False, []),
        (RETRY, True, []),
    ],
)
def test_what_a_filter_found_says_whose_category_it_was(
    make: Make, name: str, hinted: bool, added: list[str]
) -> None:
    found = _found(make("a"), make("b", hit_reasons=("dense", "lexical")))
    one = tried(name, "docs", _question(category="food", hinted=hinted), found, NO_LINES, 5)
    reasons = one.candidates["hit_reasons"].to_pylist()
    assert reasons == [["dense", *added], ["dense", "lexical", *added]]
    assert one.candidates.schema.equals(CANDIDATES.schema)
    assert found.candidates["hit_reasons"].to_pylist()[0] == ["dense"]


def test_a_filter_that_found_nothing_has_the_contract_of_candidates() -> None:
    one = tried(FILTERED, "docs", _question(category="food"), _found(), NO_LINES, 5)
    assert one.candidates.schema.equals(CANDIDATES.schema)


def test_the_record_tells_the_attempt_as_it_went(make: Make) -> None:
    found = _found(make("a", dense=0.4), make("b", dense=0.6), mode=HYBRID)
    record = tried(UNFILTERED, "web", _question(), found, NO_LINES, 17).record
    assert record.as_dict() == {
        "name": "UNFILTERED_VECTOR",
        "corpus": "web",
        "mode": "hybrid",
        "filter": "a filter",
        "hitCount": 2,
        "topScore": 0.6,
        "latencyMs": 17,
        "outcome": "evidence",
    }


def test_a_failed_attempt_keeps_its_error_and_the_mode_that_was_wished() -> None:
    error = StoreUnreachable("Gone.")
    one = failed(RETRY, "web", _question(mode=HYBRID), error, 17)
    assert (one.error, len(one.candidates), one.found) == (error, 0, None)
    assert (one.record.mode, one.record.outcome, one.record.latency_ms) == ("hybrid", "failed", 17)
