"""The report as Markdown: the verdict first, every figure with what it rests on."""

from __future__ import annotations

from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from pincite.evaluation.report.document import compared, make_report
from pincite.evaluation.report.markdown import report_markdown
from pincite.testing.evaluation import golden_case, verdict
from pincite.testing.evaluation_reports import (
    HOSTILE,
    hostile_report,
    sample_report,
    sample_verdicts,
)


def page_of(text: str) -> LexborHTMLParser:
    return LexborHTMLParser(MarkdownIt("gfm-like", {"linkify": False}).render(text))


def tables(text: str) -> dict[str, list[list[str]]]:
    """The rows of each table by the heading above it."""
    found: dict[str, list[list[str]]] = {}
    for heading in page_of(text).css("h2"):
        table = heading.next
        while table is not None and table.tag not in ("table", "h2"):
            table = table.next
        if table is not None and table.tag == "table":
            rows = [[cell.text() for cell in row.css("th, td")] for row in table.css("tr")]
            found[heading.text()] = rows
    return found


def test_the_verdict_is_the_first_line() -> None:
    assert report_markdown(sample_report()).splitlines()[0] == "# 5 of 9 cases failed"


def test_failed_cases_name_hit_stage_reason_and_message() -> None:
    head, *rows = tables(report_markdown(sample_report()))["Failed cases"]
    assert head == ["Case", "Hit", "Assertion", "Stage", "Reason", "Message"]
    assert rows[1] == [
        "lost",
        "RECALLED_BUT_DROPPED",
        "expectedSources",
        "pack",
        "budget",
        "docs/leave.md was found and dropped at pack (budget).",
    ]


def test_a_green_report_has_no_table_of_failures() -> None:
    text = report_markdown(make_report(sample_verdicts()[:2]))
    assert text.startswith("# All 2 cases passed\n")
    assert "Failed cases" not in tables(text)


def test_figures_are_given_for_every_group() -> None:
    found = tables(report_markdown(sample_report()))
    for name in ("Outcomes", "Ranking", "Evidence and fallbacks"):
        assert [row[0] for row in found[name][1:]] == [
            "all", "corpus: docs", "tag: decoy", "tag: en", "tag: none", "tag: zh",
        ]  # fmt: skip
    outcomes = dict(zip(*found["Outcomes"][:2], strict=True))
    assert (outcomes["Passed"], outcomes["HIT_PARTIAL"]) == ("4 of 9 (44 %)", "1")
    evidence = dict(zip(*found["Evidence and fallbacks"][:2], strict=True))
    assert (evidence["NONE"], evidence["Fallbacks"]) == ("1 of 9 (11 %)", "1 of 9 (11 %)")


def test_a_measure_over_no_case_is_no_number() -> None:
    rows = {row[0]: row[1:] for row in tables(report_markdown(sample_report()))["Ranking"]}
    assert rows["tag: none"] == ["0 of 1"] * 4
    assert rows["all"][0] == "0.643 (7 of 9)"
    assert rows["tag: en"][2] == "0.750"


def test_every_case_is_in_the_table() -> None:
    rows = tables(report_markdown(sample_report()))["All cases"][1:]
    assert [row[0] for row in rows] == [one.case.id for one in sample_verdicts()]
    assert rows[1][:6] == ["second", "yes", "HIT_RETURNED", "2", "SUFFICIENT", "UNFILTERED_VECTOR"]


def test_all_but_the_last_section_is_alike_for_equal_runs() -> None:
    first, second = sample_report(), sample_report()
    second["observed"]["latencyMs"]["top"] = 9_000
    second["observed"]["createdAt"] = "another day"
    shown = [report_markdown(one).partition("## This run") for one in (first, second)]
    assert shown[0][0] == shown[1][0] != ""
    assert shown[0][2] != shown[1][2]
    assert report_markdown(compared(first)) == shown[0][0].rstrip() + "\n"


def test_hostile_text_stays_text_in_its_own_cell() -> None:
    text = report_markdown(hostile_report())
    elements = {node.tag for node in page_of(text).css("body *")}
    assert elements <= {"h1", "h2", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    rows = tables(text)["All cases"]
    assert {len(row) for row in rows} == {9}
    assert rows[1][-1] == HOSTILE[0]
    assert rows[5][-1] == r"a\u202egnirts\u202c \u2066turned\u2069 \x1b[31m\x07"


def test_no_case_at_all_is_said() -> None:
    text = report_markdown(make_report([]))
    assert text.startswith("# No case was evaluated\n")
    assert tables(text)["Ranking"][1] == ["all", "0 of 0", "0 of 0", "0 of 0", "0 of 0"]


def test_a_single_case_reads_well() -> None:
    text = report_markdown(make_report([verdict(golden_case(answerable=False), [])], 1))
    assert text.startswith("# The only case passed\n")
    assert "measures count the first 1 rank\n" in text
