"""The report as one HTML page that needs nothing else: no script, no file, no network."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from pincite.evaluation.report import figures
from pincite.evaluation.report.document import Report
from pincite.evaluation.report.pictures import pictures
from pincite.evaluation.report.shape import CaseShape, ReportShape, read_shape
from pincite.evaluation.report.text import visible

TEMPLATE = "report.html"


def report_html(report: Report) -> str:
    """The report as a page.

    Raises:
        ReportInvalid: It has not the shape of a report.
    """
    shape = read_shape(report, "The report")
    return _template().render(
        report=shape,
        verdict=figures.verdict_line(shape),
        failed=figures.failed_lines(shape),
        hits=figures.hit_columns(shape.groups),
        statuses=figures.STATUSES,
        latencies=figures.latencies(shape),
        pictures=[(one, Markup(one.svg or "")) for one in pictures(shape)],
        cases=[(number, case, _seen(shape, case)) for number, case in enumerate(shape.cases, 1)],
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("pincite.evaluation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(mean=figures.mean, share=figures.share, ended=figures.ended)
    return environment.get_template(TEMPLATE)


def _shown(value: Any) -> Any:
    """Whatever the page shows has nothing in it that acts; what is markup is ours."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else visible(value)


def _seen(report: ReportShape, case: CaseShape) -> list[str]:
    """What was observed of a case, in words; empty where nothing was."""
    seen = report.observed
    if seen is None:
        return []
    words: list[str] = []
    if case.id in seen.latency_ms:
        words.append(f"{seen.latency_ms[case.id]:,} ms")
    words += [f"{name} {ms:,} ms" for name, ms in seen.stage_latency_ms.get(case.id, {}).items()]
    score = seen.evidence_score.get(case.id)
    return words if score is None else [*words, f"evidence score {score:.3f}"]
