"""Old path and new: which one answers, what happens when it fails, and how they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import (
    CatalogUnreachable,
    EmbedderChanged,
    EmbedderUnreachable,
    StoreUnreachable,
)
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import LookupRequest, request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.retrieval.rollout import Route, bucket, path_of
from pincite.retrieval.shadow import overlap, rank_correlation
from pincite.settings.model import CorpusRagSettings
from pincite.testing.faults import put, raising
from pincite.testing.homes import Home
from pincite.testing.lookups import codes, keys
from pincite.testing.memory_items import OWNER, item
from pincite.wiring import Workspace

MINE = {"corpus": "memory", **OWNER}
ROLLOUT = "memory.rag.rollout"
MakeHome = Callable[..., Home]


@pytest.fixture
def make_home(tmp_path: Path) -> MakeHome:
    """Views of one home, whose memory holds three items."""
    Home(tmp_path).write(
        "memory",
        item("green tea in the morning", id="tea", created_at="2026-01-01T00:00:00Z"),
        item("no peanuts", id="nuts", memory_type="constraint", created_at="2026-01-02T00:00:00Z"),
        item("the tram is late", id="tram", created_at="2026-01-03T00:00:00Z"),
    )
    return lambda **settings: Home(tmp_path, **settings)


def attempts(result: LookupResult) -> list[str]:
    return [one.name for one in result.trace.attempts]


def contents(result: LookupResult) -> list[str]:
    return [block.content for block in result.blocks]


def look_with(home: Home, fault: Callable[[Workspace], None], **options: Any) -> LookupResult:
    async def ask(workspace: Workspace) -> LookupResult:
        fault(workspace)
        request = request_from_settings(workspace.settings, "green tea", **{**MINE, **options})
        return await lookup_direct(request, workspace.lookup_parts)

    result: LookupResult = home.run(ask)
    return result


def without_store(workspace: Workspace) -> None:
    workspace.store = put(workspace.store, "search", raising(StoreUnreachable("Gone.")))


def without_items(workspace: Workspace) -> None:
    items = workspace.catalog.items["memory"]
    gone = put(items, "of_owner", raising(CatalogUnreachable("Gone.")))
    workspace.catalog.items["memory"] = gone


@pytest.mark.parametrize(
    "settings", [{ROLLOUT: "off"}, {"memory.rag.enabled": False}, {"rag.enabled": False}]
)
def test_the_legacy_path_answers_by_words_and_age(
    make_home: MakeHome, settings: dict[str, Any]
) -> None:
    result = make_home(**settings).look("green tea", **MINE)
    assert contents(result) == ["green tea in the morning", "the tram is late", "no peanuts"]
    assert (attempts(result), result.trace.selected_attempt) == (["LEGACY"], "LEGACY")
    assert (codes(result), result.trace.fallback_reason) == ([], None)
    assert result.evidence_status == "SUFFICIENT"
    assert result.blocks[0].candidate.hit_reasons == ("legacy",)


def test_what_the_legacy_path_gives_is_citable(make_home: MakeHome) -> None:
    home = make_home(**{ROLLOUT: "off"})
    for block in home.look("green tea", **MINE).blocks:
        key, digest = block.candidate.evidence_key, block.candidate.content_sha256
        assert home.cite(key, scope_ids=OWNER, sha256=digest).text == block.content


@pytest.mark.parametrize("name", OWNER)
def test_the_legacy_path_shows_nobody_elses(make_home: MakeHome, name: str) -> None:
    home = make_home(**{ROLLOUT: "off"})
    assert keys(home.look("green tea", **{**MINE, name: "*"})) == []


def test_the_core_brings_what_must_be_heeded_first(make_home: MakeHome) -> None:
    result = make_home().look("green tea", **MINE)
    assert contents(result) == ["no peanuts", "green tea in the morning", "the tram is late"]
    one = make_home().look("green tea", return_n=1, **MINE)
    assert contents(one) == ["no peanuts"]


def test_the_core_failing_falls_back_with_a_code(make_home: MakeHome) -> None:
    result = look_with(make_home(), without_store)
    assert contents(result)[0] == "green tea in the morning"
    assert (attempts(result)[-1], result.trace.selected_attempt) == ("LEGACY", "LEGACY")
    assert result.trace.fallback_reason == "core_failed"
    assert "store_unreachable" in codes(result)


def test_another_embedder_than_the_generations_falls_back_too(make_home: MakeHome) -> None:
    def changed(workspace: Workspace) -> None:
        other = raising(EmbedderChanged("Other."))
        workspace.embedder_for = put(workspace, "embedder_for", other).embedder_for  # type: ignore[method-assign]

    result = look_with(make_home(), changed)
    assert "embedder_changed" in codes(result)
    assert contents(result)[0] == "green tea in the morning"


def test_the_legacy_path_failing_is_answered_by_the_core(make_home: MakeHome) -> None:
    result = look_with(make_home(**{ROLLOUT: "off"}), without_items)
    assert contents(result)[0] == "no peanuts"
    assert (codes(result), result.trace.fallback_reason) == (["legacy_failed"], "legacy_failed")


def test_both_failing_is_the_error_of_the_core(make_home: MakeHome) -> None:
    def both(workspace: Workspace) -> None:
        without_store(workspace)
        without_items(workspace)

    with pytest.raises(StoreUnreachable):
        look_with(make_home(), both)


def test_a_shadow_answers_from_the_legacy_path_and_records_the_difference(
    make_home: MakeHome,
) -> None:
    home = make_home(**{ROLLOUT: "shadow"})
    result = home.look("green tea", return_n=2, **MINE)
    assert (contents(result)[0], attempts(result)) == ("green tea in the morning", ["LEGACY"])
    (line,) = home.run(_shadows)
    # The legacy path gives tea and tram, the core peanuts and tea.
    assert (line.n, line.overlap, line.correlation, line.error_code) == (2, 0.5, None, "")
    home.look("green tea", return_n=3, **MINE)
    assert home.run(_shadows)[0].overlap == 1.0


def test_a_shadow_whose_core_fails_is_recorded_and_not_felt(make_home: MakeHome) -> None:
    home = make_home(**{ROLLOUT: "shadow"})
    result = look_with(home, without_store)
    assert (codes(result), contents(result)[0]) == ([], "green tea in the morning")
    assert [line.error_code for line in home.run(_shadows)] == ["STORE_UNREACHABLE"]


async def _shadows(workspace: Workspace) -> Any:
    return workspace.catalog.shadows.lines("memory")


def test_beside_docs_each_corpus_takes_its_own_path(make_home: MakeHome) -> None:
    result = make_home(**{"rag.enabled": False}).look(
        "green tea", **{**MINE, "corpus": "docs,memory"}
    )
    assert codes(result) == ["rag_disabled"]
    assert contents(result)[0] == "green tea in the morning"


def test_a_sensitivity_cap_counts_on_both_paths(make_home: MakeHome) -> None:
    make_home().write("memory", item("green tea secret", sensitivity_level=5))
    for settings in ({}, {ROLLOUT: "off"}):
        home = make_home(**{"memory.max-sensitivity": 4, **settings})
        assert "green tea secret" not in contents(home.look("green tea", **MINE))
        assert "green tea secret" not in contents(home.look("green tea", max_sensitivity=9, **MINE))
        open_home = make_home(**settings)
        assert "green tea secret" in contents(open_home.look("green tea", **MINE))
        assert "green tea secret" not in contents(
            open_home.look("green tea", max_sensitivity=4, **MINE)
        )


def _request(**ids: str) -> LookupRequest:
    return LookupRequest("q", corpus="memory", **{**OWNER, **ids})


@pytest.mark.parametrize(
    ("rollout", "expected"),
    [
        ({}, Route.CORE),
        ({"enabled": False}, Route.LEGACY),
        ({"rollout": "off"}, Route.LEGACY),
        ({"rollout": "shadow"}, Route.SHADOW),
        ({"rollout": "shadow", "enabled": False}, Route.LEGACY),
        ({"rollout": "canary", "canary_percent": 0}, Route.LEGACY),
        ({"rollout": "canary", "canary_percent": 100}, Route.CORE),
        ({"rollout": "on", "canary_percent": 0}, Route.CORE),
    ],
)
def test_the_settings_alone_say_the_path(rollout: dict[str, Any], expected: Route) -> None:
    rollouts = {"memory": CorpusRagSettings(**rollout)}
    assert path_of(_request(), rollouts) is expected
    assert path_of(LookupRequest("q"), rollouts) is Route.CORE
    assert path_of(replace(_request(), enabled=False), rollouts) is Route.LEGACY


@given(user=st.text(min_size=1, max_size=20).filter(lambda text: text.strip() != ""))
def test_a_person_stays_on_one_side_whatever_else_changes(user: str) -> None:
    try:
        one = _request(user_id=user)
    except Exception:
        return
    place = bucket(one)
    assert 0 <= place < 100
    assert bucket(replace(one, query="other", conversation_id="c-2")) == place


def test_a_canary_is_about_as_large_as_it_should_be() -> None:
    places = [bucket(_request(user_id=f"user {n}")) for n in range(2_000)]
    assert 0.17 < sum(place < 20 for place in places) / len(places) < 0.23


def test_a_web_canary_goes_by_the_session_and_without_one_by_the_search() -> None:
    def place(**ids: str) -> int:
        return bucket(LookupRequest("q", corpus="web", **ids))

    assert place(session_id="s", query_id="1") == place(session_id="s", query_id="2")
    assert len({place(query_id=str(n)) for n in range(50)}) > 10


@pytest.mark.parametrize(
    ("one", "other", "share", "correlation"),
    [
        ("", "", 1.0, None),
        ("abc", "", 0.0, None),
        ("abc", "abc", 1.0, 1.0),
        ("abc", "cba", 1.0, -1.0),
        ("ab", "abcd", 0.5, 1.0),
        ("ab", "bc", 0.5, None),
        ("abcd", "acbd", 1.0, 0.8),
    ],
)
def test_overlap_and_rank_correlation(
    one: str, other: str, share: float, correlation: float | None
) -> None:
    assert overlap(one, other) == share
    found = rank_correlation(list(one), list(other))
    assert found == (correlation if correlation is None else pytest.approx(correlation))


def test_an_embedder_that_is_gone_leaves_full_text_to_the_core(make_home: MakeHome) -> None:
    def broken(workspace: Workspace) -> None:
        gone = raising(EmbedderUnreachable("Gone."))
        workspace.embedder = put(workspace.embedder, "embed", gone)

    result = look_with(make_home(), broken)
    assert codes(result) == ["embedder_unreachable"]
    assert attempts(result) == ["UNFILTERED_VECTOR"]
