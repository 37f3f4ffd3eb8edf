"""The report as a page: it needs nothing else, and nothing of a case acts in it."""

from __future__ import annotations

import re
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from pincite.evaluation.report.document import Report, compared, make_report
from pincite.evaluation.report.html import report_html
from pincite.evaluation.report.text import visible
from pincite.testing.evaluation import golden_case, verdict
from pincite.testing.evaluation_reports import (
    HOSTILE,
    LEAVE,
    hostile_report,
    sample_report,
    sample_verdicts,
)

# Elements and attributes of the template and its pictures; nothing else may appear.
TAGS = """
a bdi body dd desc details div dl dt figcaption figure g h1 h2 h3 head header html li main meta ol p
path section span strong style summary svg table tbody td text th thead title tr ul
"""
ELEMENTS = frozenset(TAGS.split())


def page(report: Report) -> LexborHTMLParser:
    return LexborHTMLParser(report_html(report))


@cache
def sample_page() -> LexborHTMLParser:
    return page(sample_report())


def nodes(tree: LexborHTMLParser) -> list[LexborNode]:
    return list(tree.css("*"))


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_the_page_begins_with_the_verdict() -> None:
    html = report_html(sample_report())
    assert html.startswith("<!doctype html>\n<html lang=")
    tree = LexborHTMLParser(html)
    assert tree.css_first("h1").text() == "5 of 9 cases failed"
    assert tree.css_first("title").text().startswith("5 of 9 cases failed")


def test_the_page_refers_to_nothing_outside() -> None:
    for tree in (sample_page(), page(hostile_report())):
        for node in nodes(tree):
            for name, value in node.attributes.items():
                assert name not in ("src", "srcset", "action", "data", "poster", "background")
                assert not name.startswith("on")
                assert "url(" not in (value or "")
                assert name.rpartition(":")[2] != "href" or (value or "").startswith("#")
        styles = "".join(node.text() for node in tree.css("style"))
        assert "@import" not in styles
        assert "url(" not in styles
        assert len(tree.css("style")) == 1
        assert tree.css("script, link, iframe, object, embed, img, base") == []


def test_a_browser_is_told_to_load_nothing() -> None:
    policy = sample_page().css_first("meta[http-equiv=Content-Security-Policy]")
    assert policy.attributes["content"] == "default-src 'none'; style-src 'unsafe-inline'"


def test_each_link_leads_to_a_case() -> None:
    tree = sample_page()
    links = [str(node.attributes["href"]) for node in tree.css("a")]
    assert links == ["#case-3", "#case-4", "#case-5", "#case-7", "#case-9"]
    for link in links:
        assert tree.css_first(f"details{link}").attributes.get("open", "closed") != "closed"


def test_ids_are_unique() -> None:
    ids = [node.attributes["id"] for node in sample_page().css("[id]")]
    assert len(ids) == len(set(ids))


def details(tree: LexborHTMLParser, number: int) -> dict[str, str]:
    """What the page says of a case, by its terms."""
    case = tree.css_first(f"#case-{number}")
    terms = [squeezed(node.text()) for node in case.css("dt")]
    return dict(zip(terms, (squeezed(node.text()) for node in case.css("dd")), strict=True))


def test_a_case_shows_query_fates_returned_keys_path_and_failures() -> None:
    lost = details(sample_page(), 4)
    assert lost["Query"] == "What of lost?"
    assert lost["Failures"].startswith("expectedSources at pack: docs/leave.md was found and")
    assert lost["Expected"] == "docs/leave.md: dropped at pack (budget)"
    assert lost["Returned"] == "docs/backup.md#chunk-0 docs, docs/backup.md"
    assert lost["Dropped"] == "1 at pack: budget"
    assert lost["Measures"].startswith("recall@5 0.000, ")
    retried = details(sample_page(), 6)
    assert retried["Attempts"] == (
        "FILTERED_VECTOR (no_evidence), then UNFILTERED_VECTOR_RETRY (evidence);"
        " used UNFILTERED_VECTOR_RETRY, because of filtered_vector_no_evidence"
    )
    assert "Failures" not in retried
    second = details(sample_page(), 2)
    assert second["Degraded"] == "reranker_timeout"
    assert second["Observed"] == "45 ms, search 4 ms"
    none = details(sample_page(), 8)
    assert (none["Expected"], none["Returned"]) == ("names none", "nothing")


def test_passed_and_failed_are_told_in_words() -> None:
    marks = [squeezed(node.text()) for node in sample_page().css("summary .mark")]
    assert [mark.partition(" ")[2] for mark in marks] == [
        "passed" if one.passed else "failed" for one in sample_verdicts()
    ]


def test_a_measure_over_no_case_is_no_number() -> None:
    tables = sample_page().css("table.figures")
    rows = [[cell.text() for cell in row.css("th, td")] for row in tables[1].css("tr")]
    assert ["tag: none", *["0 of 1"] * 4] in rows
    assert rows[1][1] == "0.643 (7 of 9)"
    text = sample_page().body.text()
    assert "nan" not in text.split()
    assert "None" not in text.split()


def test_an_evaluation_without_expectations_or_latencies_says_so() -> None:
    report = make_report([verdict(golden_case(answerable=False), [])])
    tree = page(compared(report))
    assert tree.css("svg") == []
    assert [
        squeezed(node.text()).endswith("nothing to show.") for node in tree.css("figure p")
    ] == [
        True,
        True,
        True,
    ]
    assert "Observed" not in details(tree, 1)


def test_no_case_at_all_is_said() -> None:
    tree = page(make_report([]))
    assert tree.css_first("h1").text() == "No case was evaluated"
    assert "good" not in str(tree.css_first("h1").attributes["class"])


def test_hostile_text_is_text() -> None:
    tree = page(hostile_report())
    assert {node.tag for node in nodes(tree)} <= ELEMENTS
    queries = [node.text() for node in tree.css("dd.text")]
    assert queries == [visible(text) for text in HOSTILE]


def test_text_that_would_act_is_nowhere_in_the_page() -> None:
    html = report_html(hostile_report())
    assert set("\u202e\u202c\u2066\u2069\x1b\x07") & set(html) == set()
    assert r"a\u202egnirts\u202c" in html


TEXTS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
    | st.text("<>&'\"/=a #{%}\n\u202e", min_size=1, max_size=40),
    min_size=1,
    max_size=3,
    unique=True,
)


@settings(max_examples=15, deadline=None)
@given(TEXTS)
def test_whatever_a_case_holds_the_page_keeps_its_structure(texts: list[str]) -> None:
    tree = page(hostile_report(texts))
    assert {node.tag for node in nodes(tree)} <= ELEMENTS
    assert [node.text() for node in tree.css("dd.text")] == [visible(text) for text in texts]


def test_long_words_may_wrap_and_columns_may_scroll() -> None:
    html = report_html(hostile_report())
    assert re.search(r"body \{[^}]*overflow-wrap: anywhere", html)
    for table in LexborHTMLParser(html).css("table.figures"):
        assert table.parent is not None
        region = table.parent.attributes
        assert (region["class"], region["tabindex"]) == ("scroll", "0")
        assert region["aria-label"]


def test_the_source_of_a_case_is_shown_once_for_each_block() -> None:
    assert details(sample_page(), 1)["Returned"] == f"{LEAVE}#chunk-0 docs, {LEAVE}"
