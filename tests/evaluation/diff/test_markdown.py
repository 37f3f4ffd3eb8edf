"""The differences as Markdown."""

from __future__ import annotations

from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from pincite.evaluation.diff.markdown import diff_markdown
from pincite.evaluation.diff.reports import diff_reports
from pincite.evaluation.report.document import make_report
from pincite.testing.evaluation import block, dropped, golden_case, verdict
from pincite.testing.evaluation_reports import (
    BACKUP,
    HOSTILE,
    LEAVE,
    hostile_report,
    hostile_verdicts,
    sample_report,
)


def judged(case_id, *sources, fallen=(), **given):
    case = golden_case(case_id, expectedSources=[LEAVE])
    return verdict(case, [block(source) for source in sources], list(fallen), **given)


def test_sections_say_what_changed_and_where_to_look() -> None:
    cap = [dropped(BACKUP, at, "document_cap") for at in range(3)]
    old = [
        judged("better"),
        judged("gone", LEAVE),
        judged("path", LEAVE, fallen=cap),
        judged("same", LEAVE),
        judged("worse", LEAVE),
    ]
    now = [
        judged("better", LEAVE),
        judged("fresh"),
        judged("path", LEAVE),
        judged("same", LEAVE),
        judged("worse", BACKUP, fallen=[dropped(LEAVE, 0, "budget", "pack")]),
    ]
    text = diff_markdown(diff_reports(make_report(old), make_report(now)))
    assert text.startswith(
        "# 1 regression, 1 improvement\n\n"
        "1 changed path, 1 new case, 1 gone case, 1 unchanged.\n\n"
        "## Regressions\n\n"
        "- **worse** (failed, hit, rank): passed, HIT_TOP1, rank 1 -> failed,"
        " RECALLED_BUT_DROPPED\n"
        "  - expectedSources at pack: docs/leave.md was found and dropped at pack (budget).\n"
        "  - pack: budget: 0 -> 1\n"
        "  - expected docs/leave.md: rank 1 -> dropped at pack (budget)\n"
    )
    assert "  - document_cap: 3 -> 0\n" in text
    assert "- **fresh** (new): absent -> failed, NOT_RECALLED\n" in text
    assert "- **gone** (gone): passed, HIT_TOP1, rank 1 -> absent\n" in text
    order = [node.text() for node in page_of(text).css("h2")]
    assert order == [
        "Regressions",
        "Improvements",
        "Changed paths",
        "New cases",
        "Gone cases",
        "Changed figures",
    ]


def page_of(text: str) -> LexborHTMLParser:
    return LexborHTMLParser(MarkdownIt("gfm-like", {"linkify": False}).render(text))


def test_figures_say_what_they_rest_on() -> None:
    text = diff_markdown(
        diff_reports(make_report([judged("a", LEAVE)]), make_report([judged("a", BACKUP, LEAVE)]))
    )
    assert "| all | mrr@5 | 1.000 | 0.500 |\n" in text
    assert "| all | HIT_TOP1 | 1 | – |\n" in text


def test_no_change_is_said() -> None:
    text = diff_markdown(diff_reports(sample_report(), sample_report()))
    assert text == (
        "# No regression, 0 improvements\n\n"
        "0 changed paths, 0 new cases, 0 gone cases, 9 unchanged.\n"
    )


def test_equal_differences_give_equal_bytes() -> None:
    texts = {diff_markdown(diff_reports(sample_report(), sample_report())) for _ in range(3)}
    assert len(texts) == 1


def test_hostile_text_stays_text() -> None:
    shifted = make_report(
        [
            verdict(old.case, [], corpus=other, trace={"fallbackReason": other})
            for old, other in zip(hostile_verdicts(), reversed(HOSTILE), strict=True)
        ]
    )
    text = diff_markdown(diff_reports(hostile_report(), shifted))
    elements = {node.tag for node in page_of(text).css("body *")}
    assert elements <= {
        "h1", "h2", "p", "ul", "li", "strong", "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert "\u202e" not in text
