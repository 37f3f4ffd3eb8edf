"""Reports for tests: one of everything that a report can tell, and one that is hostile."""

from __future__ import annotations

from collections.abc import Sequence

from pincite.evaluation.report.document import Report, make_report
from pincite.evaluation.verdict import Verdict
from pincite.testing.evaluation import attempt, block, dropped, golden_case, verdict

LEAVE, TRAVEL, BACKUP = "docs/leave.md", "docs/travel.md", "docs/backup.md"
# What a browser, a Markdown reader or a terminal would obey.
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=https://example.org/x.png onerror=alert(1)>',
    "</title></style><style>@import url(https://example.org/x.css)</style>",
    "[click](javascript:alert(1)) ![x](https://example.org/x.png) `code` **bold** | pipe",
    "a\u202egnirts\u202c \u2066turned\u2069 \x1b[31m\x07",
    "出差住宿费每晚最高报销多少？\n第二行",
    "{{ 7 * 7 }} {% raw %} &amp; &lt;",
    "w" * 900,
)


def sample_verdicts() -> list[Verdict]:
    """Cases that are found first, later, partly, dropped at two stages, not at all; and others."""
    both = [LEAVE, TRAVEL]
    retried = {
        "selectedAttempt": "UNFILTERED_VECTOR_RETRY",
        "fallbackReason": "filtered_vector_no_evidence",
        "attempts": [attempt("FILTERED_VECTOR", "no_evidence"), attempt("UNFILTERED_VECTOR_RETRY")],
    }
    slow = {"code": "reranker_timeout", "stage": "rerank", "corpus": "docs", "message": "late"}
    return [
        verdict(golden_case("top", expectedSources=[LEAVE], tags=["en"]), [block(LEAVE)]),
        verdict(
            golden_case("second", expectedSources=[LEAVE], tags=["en"]),
            [block(BACKUP), block(LEAVE)],
            trace={"degradations": [slow], "latencyMs": 45},
        ),
        verdict(
            golden_case("partial", expectedSources=both),
            [block(TRAVEL)],
            [dropped(LEAVE, 0, "document_cap"), dropped(BACKUP, 0, "document_cap")],
        ),
        verdict(
            golden_case("lost", expectedSources=[LEAVE], tags=["zh"]),
            [block(BACKUP)],
            [dropped(LEAVE, 0, "budget", "pack")],
        ),
        verdict(golden_case("unknown", expectedSources=[LEAVE], tags=["zh"]), [block(BACKUP)]),
        verdict(
            golden_case("retried", expectedSources=[LEAVE], tags=["decoy"]),
            [block(LEAVE)],
            trace=retried,
        ),
        verdict(
            golden_case("worded", expectedSources=[LEAVE], mustContain=["14 days"]), [block(LEAVE)]
        ),
        verdict(golden_case("none", answerable=False, tags=["none"]), []),
        verdict(golden_case("forbidden", forbiddenSources=[BACKUP]), [block(BACKUP)]),
    ]


def sample_report(k: int = 5) -> Report:
    """The report on ``sample_verdicts``: 4 of 9 cases pass."""
    return make_report(sample_verdicts(), k)


def hostile_verdicts(texts: Sequence[str] = HOSTILE) -> list[Verdict]:
    """For each text a case that asks it, expects it, is tagged with it, and gets it back."""
    return [_hostile(number, text) for number, text in enumerate(texts)]


def hostile_report(texts: Sequence[str] = HOSTILE) -> Report:
    """The report on ``hostile_verdicts``."""
    return make_report(hostile_verdicts(texts))


def _hostile(number: int, text: str) -> Verdict:
    case = golden_case(
        f"hostile-{number}",
        query=text,
        tags=[text],
        kbScope=text[:200],
        expectedSources=[text, f"{text} lost"],
        mustContain=[f"{text} which nobody says"],
    )
    trace = {
        "selectedAttempt": text,
        "fallbackReason": text,
        "attempts": [attempt(text, text)],
        "degradations": [{"stage": text, "corpus": text, "code": text, "message": text}],
    }
    fallen = [dropped(f"{text} lost", 0, text, text)]
    return verdict(case, [block(text, corpus=text)], fallen, trace=trace, corpus=text)
