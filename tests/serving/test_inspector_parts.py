"""Parts of the inspector's pages: surroundings, addresses, bars, text as it is."""

from __future__ import annotations

from collections import Counter
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from pincite.errors import RequestInvalid
from pincite.figures.figures import Figures
from pincite.figures.shadow import shadow_from
from pincite.percentiles import spread_of
from pincite.retrieval.trace import Dropped, Stage
from pincite.serving.access import Principal
from pincite.serving.inspector.answer import steps_of
from pincite.serving.inspector.charts import chart
from pincite.serving.inspector.form import (
    Asked,
    asked_of,
    cited_of,
    evidence_path,
    ids_in_force,
    offered,
)
from pincite.serving.inspector.page import exact, share, unseen
from pincite.serving.inspector.surroundings import around

TEXT = "one line\nanother line\nthe cited line\nmore of it\nthe last"


@given(st.text(), st.data())
def test_surroundings_are_the_text_around_the_span(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    width = data.draw(st.integers(0, len(text) + 5))
    place = around(text, start, end, width)
    shown = place.before + place.span + place.after
    assert place.span == text[start:end]
    assert len(place.before) <= width
    assert len(place.after) <= width
    assert text == text[: place.left_before] + shown + text[len(text) - place.left_after :]


def test_surroundings_are_cut_between_lines() -> None:
    start = TEXT.index("the cited")
    place = around(TEXT, start, start + len("the cited line"), 16)
    assert (place.before, place.after) == ("another line\n", "\nmore of it")
    assert (place.left_before, place.left_after) == (len("one line\n"), len("\nthe last"))


@given(st.text(min_size=1))
def test_key_comes_back_from_its_address(key: str) -> None:
    path = evidence_path(key, corpus="docs", asked=Asked())
    (segment,) = urlsplit(path).path.removeprefix("/evidence/").split("/")
    assert unquote(segment) == key
    assert path.isascii()


def test_address_of_evidence_names_its_text_and_the_scope_of_the_question() -> None:
    asked = Asked(kb_scope="tenant & co", ids={"user_id": "u/1?"})
    path = evidence_path("a#chunk-0", corpus="memory", asked=asked, sha256="f00")
    assert parse_qs(urlsplit(path).query) == {
        "corpus": ["memory"],
        "sha256": ["f00"],
        "kb_scope": ["tenant & co"],
        "user_id": ["u/1?"],
    }
    cited = cited_of(QueryParams(urlsplit(path).query))
    assert (cited.kb_scope, cited.ids) == ("tenant & co", {"user_id": "u/1?"})


def test_empty_fields_are_not_given_and_blank_ones_are() -> None:
    asked = asked_of(QueryParams("q=x&user_id=&session_id=+&kb_scope=&corpus=docs&corpus=web"))
    assert asked == Asked("x", ("docs", "web"), "", "", {"session_id": " "})
    assert asked_of(QueryParams("")) == Asked()


@pytest.mark.parametrize("value", ["-1", "1.5", "ten", "１０", "9" * 9])
def test_width_around_a_citation_is_a_number(value: str) -> None:
    with pytest.raises(RequestInvalid):
        cited_of(QueryParams({"around": value}))


def test_two_values_of_one_id_are_refused() -> None:
    headers = {"user_id": "u-1", "session_id": None}
    assert ids_in_force({"session_id": "s"}, headers) == {"session_id": "s", "user_id": "u-1"}
    with pytest.raises(RequestInvalid, match="'user_id'"):
        ids_in_force({"user_id": "u-2"}, headers)


def test_form_offers_what_a_token_opens() -> None:
    somebody = Principal("s", ("memory",), ids={"user_id": "u-1"})
    form = offered(somebody, ("docs", "memory"), 8_000)
    assert (form.corpora, form.usual) == (("memory",), ("memory",))
    assert (form.ids, form.bound) == (("assistant_id", "conversation_id"), ("user_id",))


def test_bars_have_one_scale_and_hints_have_none() -> None:
    stages = [
        Stage("l0", "docs", 900, 1, 1),
        Stage("search", "docs", 40, 20, 8),
        Stage("document_cap", "docs", 20, 5, 0),
    ]
    fell = [Dropped("document_cap", "k", "docs", "s", "document_cap", 0.5)] * 15
    hints, search, cap = steps_of(stages, fell)
    assert (hints.entered, hints.left) == (0, 0)
    assert (search.entered, search.left, search.latency) == (100, 50, 100)
    assert (cap.entered, cap.left, cap.reasons) == (50, 12.5, (("document_cap", 15),))


def test_stage_of_many_corpora_counts_what_fell_from_each() -> None:
    fell = [Dropped("return_n", "k", name, "s", "return_n", 0.5) for name in ("docs", "web")]
    (step,) = steps_of([Stage("return_n", "docs,web", 7, 5, 0)], fell)
    assert step.reasons == (("return_n", 2),)


def test_parts_of_the_evidence_bar_follow_each_other() -> None:
    found = chart(_figures(8, {"SUFFICIENT": 4, "WEAK": 2, "NONE": 2}), shadow_from("docs", [], 0))
    assert [(part.start, part.length) for part in found.evidence] == [(0, 50), (50, 25), (75, 25)]
    assert [(row.name, row.p50, row.p99) for row in found.latency] == [
        ("whole lookup", 50.0, 100.0),
        ("search", 20.0, 20.0),
    ]
    assert found.paths == ()


def _figures(lookups: int, evidence: dict[str, int]) -> Figures:
    return Figures(
        corpus="docs",
        since=0,
        first_at=1,
        last_at=2,
        lookups=lookups,
        hits=lookups,
        evidence=evidence,
        latency=spread_of([10] * 7 + [20]),
        stages={"search": spread_of([4] * 8), "rerank": spread_of([])},
        degraded=0,
        degradations=Counter(),
        cached=0,
        legacy=0,
        items={},
    )


def test_text_as_it_is_keeps_carriage_returns_and_escapes_marks() -> None:
    assert exact("a\r\n<b>&\u202e") == "a&#13;\n&lt;b&gt;&amp;\u202e"


def test_characters_that_are_not_seen_are_counted() -> None:
    assert unseen("line\r\n\ttab \u200dZWJ") == 0
    assert unseen("a\u202eb\u2066c\x00") == 3


def test_shares() -> None:
    assert (share(None), share(0.0), share(0.98765)) == ("–", "0.0%", "98.8%")
