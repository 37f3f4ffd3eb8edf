from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.errors import PinciteError, RequestInvalid, ScopeInvalid, ScopeRequired
from pincite.retrieval.request import LookupRequest, request_from_settings
from pincite.settings import Settings
from pincite.store.port import Mode


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\ud800"])
def test_a_query_that_says_nothing_is_refused(query: str) -> None:
    with pytest.raises(RequestInvalid, match="query"):
        LookupRequest(query)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retrieve_k", 0),
        ("retrieve_k", 16_385),
        ("return_n", -1),
        ("return_n", True),
        ("token_budget", 0),
        ("max_chunks_per_document", 0),
        ("timeout_ms", 0),
        ("threshold", 1.5),
        ("weak", float("nan")),
        ("mode", "sparse"),
        ("corpus", " "),
        ("category", " "),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(RequestInvalid, match=name if name != "mode" else "Mode 'sparse'"):
        LookupRequest("q", **{name: value})


@pytest.mark.parametrize("scope", [" ", "x" * 257, "漢" * 86, "\ud800"])
def test_a_scope_that_is_blank_or_too_long_is_refused(scope: str) -> None:
    with pytest.raises(ScopeInvalid, match="'kb_scope'"):
        LookupRequest("q", kb_scope=scope)


@pytest.mark.parametrize("scope", ["*", "%", "null", "x" * 256, " tenant "])
def test_a_scope_matches_only_itself(scope: str) -> None:
    assert LookupRequest("q", kb_scope=scope).kb_scope == scope


def test_memory_needs_all_its_ids() -> None:
    with pytest.raises(ScopeRequired, match="'conversation_id'"):
        LookupRequest("q", corpus="memory", user_id="u", assistant_id="a")


def test_web_needs_one_of_its_ids_and_enforces_all_that_are_given() -> None:
    with pytest.raises(ScopeRequired, match="'session_id', 'query_id'"):
        LookupRequest("q", corpus="web")
    assert LookupRequest("q", corpus="web", query_id="*").scope_ids() == {"query_id": "*"}
    both = LookupRequest("q", corpus="web", session_id="s", query_id="q")
    assert both.scope_ids() == {"session_id": "s", "query_id": "q"}


@pytest.mark.parametrize("value", ["", "  "])
def test_a_blank_id_is_an_error_and_not_no_filter(value: str) -> None:
    with pytest.raises(ScopeInvalid, match="'session_id'"):
        LookupRequest("q", corpus="web", session_id=value, query_id="q")


def test_ids_of_other_corpora_do_not_bind() -> None:
    assert LookupRequest("q", user_id="u", session_id="s").scope_ids() == {}


def test_settings_give_the_defaults_of_a_request() -> None:
    made = asdict(request_from_settings(Settings(), "q"))
    assert made == asdict(LookupRequest("q"))


def test_what_is_given_wins_over_the_settings_and_none_is_not_given() -> None:
    configured = Settings.model_validate(
        {"rag": {"return_n": 7, "mode": "hybrid"}, "retrieval": {"kb_scope": "team"}}
    )
    made = request_from_settings(configured, "q", return_n=2, kb_scope=None, mode=None)
    assert (made.return_n, made.kb_scope, made.mode) == (2, "team", Mode.HYBRID)
    assert request_from_settings(configured, "q", kb_scope="other").kb_scope == "other"


def test_a_blank_scope_that_is_given_does_not_lift_the_configured_one() -> None:
    configured = Settings.model_validate({"retrieval": {"kb_scope": "team"}})
    with pytest.raises(ScopeInvalid, match="blank"):
        request_from_settings(configured, "q", kb_scope="")


def test_the_legacy_width_stands_in_for_both_and_an_explicit_one_wins() -> None:
    legacy = Settings.model_validate({"rag": {"top_k": 9}})
    made = request_from_settings(legacy, "q")
    assert (made.retrieve_k, made.return_n) == (9, 9)
    mixed = Settings.model_validate({"rag": {"top_k": 9, "return_n": 3}})
    made = request_from_settings(mixed, "q")
    assert (made.retrieve_k, made.return_n) == (9, 3)


def test_an_override_that_no_request_has_is_refused() -> None:
    with pytest.raises(RequestInvalid, match="'return_m'"):
        request_from_settings(Settings(), "q", return_m=3)


@settings(max_examples=60)
@given(st.text(max_size=300))
def test_any_scope_is_taken_as_it_is_or_refused_with_its_code(scope: str) -> None:
    assert _taken(scope) in (scope, "SCOPE_INVALID")


def _taken(scope: str) -> str:
    try:
        return LookupRequest("q", kb_scope=scope).kb_scope
    except PinciteError as error:
        return error.code
