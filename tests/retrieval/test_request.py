from dataclasses import asdict, replace
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
        ("rerank_top_k", 0),
        ("rerank_timeout_ms", 1.5),
        ("return_n", 1_001),
        ("low_quality", float("inf")),
        ("threshold", 1.5),
        ("weak", float("nan")),
        ("mode", "sparse"),
        ("corpus", " "),
        ("corpus", "docs,"),
        ("corpus", "docs,mails"),
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


MEMORY = {"user_id": "u", "assistant_id": "a", "conversation_id": "c"}


def test_several_corpora_are_asked_in_the_order_given_each_once() -> None:
    request = LookupRequest("q", corpus=" memory , docs,memory", **MEMORY)
    assert (request.corpus, request.corpora) == ("memory,docs", ("memory", "docs"))
    assert [one.corpus for one in request.each()] == ["memory", "docs"]


def test_one_corpus_asked_is_the_request_itself() -> None:
    request = LookupRequest("q", corpus="docs")
    assert request.each() == (request,)


def test_each_of_several_corpora_has_its_own_scopes_and_all_else_alike() -> None:
    request = LookupRequest(
        "q", corpus="docs,memory,web", **MEMORY, query_id="n", kb_scope="team", return_n=3
    )
    docs, memory, web = request.each()
    assert [one.scope_ids() for one in (docs, memory, web)] == [{}, MEMORY, {"query_id": "n"}]
    assert {replace(one, corpus="docs") for one in (docs, memory, web)} == {docs}


@pytest.mark.parametrize(
    ("corpus", "ids", "missing"),
    [
        ("docs,memory", {"user_id": "u", "assistant_id": "a"}, "'conversation_id'"),
        ("docs,web", MEMORY, "'session_id', 'query_id'"),
        ("memory,web", {"session_id": "s"}, "'user_id', 'assistant_id', 'conversation_id'"),
    ],
)
def test_every_corpus_that_is_asked_needs_its_ids(
    corpus: str, ids: dict[str, str], missing: str
) -> None:
    with pytest.raises(ScopeRequired, match=missing):
        LookupRequest("q", corpus=corpus, **ids)


def test_a_bad_id_of_one_of_several_corpora_is_an_error() -> None:
    with pytest.raises(ScopeInvalid, match="'user_id'"):
        LookupRequest("q", corpus="docs,memory", **{**MEMORY, "user_id": " "})


def test_ids_of_other_corpora_do_not_bind() -> None:
    assert LookupRequest("q", user_id="u", session_id="s").scope_ids() == {}


def test_settings_give_the_defaults_of_a_request() -> None:
    """The legs and the reranker are the settings' to choose; all else is alike without them."""
    rag = Settings().rag
    chosen = LookupRequest("q", mode=Mode(rag.mode), rerank=rag.reranker.enabled)
    assert asdict(request_from_settings(Settings(), "q")) == asdict(chosen)


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


def test_the_settings_name_the_corpora_and_the_reranker() -> None:
    configured = Settings.model_validate(
        {
            "lookup": {"corpora": ["memory", "docs"]},
            "rag": {"reranker": {"enabled": True, "top_k": 7, "timeout_ms": 300}},
        }
    )
    made = request_from_settings(configured, "q", **MEMORY)
    assert made.corpora == ("memory", "docs")
    assert (made.rerank, made.rerank_top_k, made.rerank_timeout_ms) == (True, 7, 300)
    assert request_from_settings(configured, "q", corpus="docs").corpora == ("docs",)


def test_an_override_that_no_request_has_is_refused() -> None:
    with pytest.raises(RequestInvalid, match="'return_m'"):
        request_from_settings(Settings(), "q", return_m=3)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_scope_is_taken_as_it_is_or_refused_with_its_code(scope: str) -> None:
    assert _taken(scope) in (scope, "SCOPE_INVALID")


def _taken(scope: str) -> str:
    try:
        return LookupRequest("q", kb_scope=scope).kb_scope
    except PinciteError as error:
        return error.code


@pytest.mark.parametrize(
    "odd",
    [
        {"corpus": 5},
        {"kb_scope": 5},
        {"category": b"x"},
        {"exclude_scopes": "rag-eval"},
        {"exclude_scopes": ["rag-eval"]},
        {"exclude_scopes": (1,)},
        {"trace_id": 5},
        {"trace_id": "a\nb"},
        {"timeout_ms": 10**15},
    ],
)
def test_values_of_another_kind_are_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(RequestInvalid, match=next(iter(odd))):
        LookupRequest("q", **odd)
