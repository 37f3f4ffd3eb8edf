"""The report for people who read Markdown; all but its last section is alike for equal runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pincite.evaluation.report.document import Report
from pincite.evaluation.report.figures import (
    STATUSES,
    FailedLine,
    counted,
    failed_lines,
    hit_columns,
    latencies,
    mean,
    share,
    verdict_line,
)
from pincite.evaluation.report.shape import CaseShape, Group, ReportShape, read_shape
from pincite.evaluation.report.text import NOTHING, markdown

Row = Sequence[object]


def report_markdown(report: Report) -> str:
    """The report as a Markdown document; the verdict is its first line.

    Raises:
        ReportInvalid: It has not the shape of a report.
    """
    shape = read_shape(report, "The report")
    parts = (_failed(shape), _figures(shape), _cases(shape), _observed(shape))
    lines = [f"# {verdict_line(shape)}", *(line for part in parts for line in part)]
    return "\n".join(lines) + "\n"


def table(head: Row, rows: Iterable[Row], numbers_from: int | None = None) -> Iterator[str]:
    """A Markdown table; columns from ``numbers_from`` on are aligned to the right."""
    first = len(head) if numbers_from is None else numbers_from
    yield _row(head)
    yield "|" + "|".join(" --- " if at < first else " ---: " for at in range(len(head))) + "|"
    yield from (_row(row) for row in rows)


def section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """A heading with what stands below it; nothing where that is nothing."""
    found = list(lines)
    if found:
        yield from ("", f"## {title}", "", *found)


def _row(cells: Row) -> str:
    return "| " + " | ".join(markdown(cell) for cell in cells) + " |"


def _failed(report: ReportShape) -> Iterator[str]:
    head = ("Case", "Hit", "Assertion", "Stage", "Reason", "Message")
    rows = [_failed_row(line) for line in failed_lines(report)]
    return section("Failed cases", table(head, rows) if rows else ())


def _failed_row(line: FailedLine) -> Row:
    return line.case, line.hit.value, line.assertion, line.stage, line.reason, line.message


def _figures(report: ReportShape) -> Iterator[str]:
    groups = report.groups
    yield from section("Outcomes", _outcomes(groups))
    yield from section("Ranking", _ranking(groups))
    yield from section("Evidence and fallbacks", _evidence(groups))


def _outcomes(groups: Sequence[Group]) -> Iterator[str]:
    hits = hit_columns(groups)
    head = ("Group", "Cases", "Passed", *(hit.value for hit in hits))
    counts = [(one, [one.hits.get(hit, 0) for hit in hits]) for one in groups]
    rows = [(one.name, one.cases, share(one.passed, one.cases), *n) for one, n in counts]
    return table(head, rows, numbers_from=1)


def _ranking(groups: Sequence[Group]) -> Iterator[str]:
    names = list(groups[0].measures)
    rows = [(one.name, *(mean(one.measures[name]) for name in names)) for one in groups]
    return table(("Group", *names), rows, numbers_from=1)


def _evidence(groups: Sequence[Group]) -> Iterator[str]:
    head = ("Group", *STATUSES, "Fallbacks", "Degraded")
    return table(head, [_evidence_row(one) for one in groups], numbers_from=1)


def _evidence_row(one: Group) -> Row:
    counts = [*(one.evidence.get(status, 0) for status in STATUSES), one.fallbacks, one.degraded]
    return one.name, *(share(count, one.cases) for count in counts)


def _cases(report: ReportShape) -> Iterator[str]:
    head = ("Case", "Passed", "Hit", "Rank", "Evidence", "Attempt", "Corpus", "Tags", "Query")
    rows = [_case_row(case) for case in report.cases]
    return section("All cases", table(head, rows) if rows else ())


def _case_row(case: CaseShape) -> Row:
    return (
        case.id,
        "yes" if case.passed else "no",
        case.hit.value,
        case.rank or NOTHING,
        case.path.evidence_status,
        case.path.selected_attempt or NOTHING,
        case.corpus,
        ", ".join(case.tags),
        case.query,
    )


def _observed(report: ReportShape) -> Iterator[str]:
    """What another run has otherwise."""
    seen = report.observed
    if seen is None:
        return
    lines = [
        f"- {markdown(seen.created_at)}, Pincite {markdown(seen.pincite)}, {markdown(seen.origin)}",
        f"- measures count the first {counted(report.k, 'rank')}",
    ]
    times = latencies(report)
    if times is not None:
        lines.append(
            f"- latency: p50 {times.p50:,} ms, p95 {times.p95:,} ms, longest {times.longest:,} ms"
        )
    yield from section("This run", lines)
