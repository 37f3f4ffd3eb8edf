"""The report of an evaluation: one document, of which all but ``observed`` is compared.

What is compared holds no time, no latency and no score: equal runs give equal bytes.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pincite import __version__
from pincite.errors import ReportInvalid
from pincite.evaluation.answer import Answer
from pincite.evaluation.measures import Values, per_query, standard
from pincite.evaluation.report.shape import read_shape
from pincite.evaluation.verdict import Verdict

VERSION = 1
KIND = "pincite-evaluation"
OBSERVED = "observed"
DEFAULT_K = 5
FILE = "report.json"
DIGITS = 4

Report = dict[str, Any]


def make_report(verdicts: Sequence[Verdict], k: int = DEFAULT_K, origin: str = "live") -> Report:
    """The report as its JSON document.

    Args:
        verdicts: Of all cases, in their order.
        k: Ranks that the measures count.
        origin: ``live`` or ``fixtures``.
    """
    measures = _measures(verdicts, k)
    cases = [_case(one, values) for one, values in zip(verdicts, measures, strict=True)]
    return {
        "kind": KIND,
        "version": VERSION,
        "k": k,
        "ok": all(case["passed"] for case in cases),
        "groups": _groups(cases, k),
        "cases": cases,
        OBSERVED: _observed(verdicts, origin),
    }


def compared(report: Report) -> Report:
    """The part that equal runs have in common."""
    return {name: value for name, value in report.items() if name != OBSERVED}


def to_json(document: Mapping[str, Any]) -> str:
    """As it is written to a file: the same document gives the same bytes."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def read_report(path: Path) -> Report:
    """A report from its file, or from the folder that it was written to.

    Raises:
        ReportInvalid: It cannot be read, is no report, one of another version, or parts of it
            are missing.
    """
    path = path / FILE if path.is_dir() else path
    try:
        report = json.loads(path.read_text("utf-8"))
    except OSError as exc:
        raise ReportInvalid(f"{str(path)!r} cannot be read: {exc.strerror}.") from exc
    except (ValueError, RecursionError) as exc:
        raise ReportInvalid(f"{str(path)!r} is no JSON document.") from exc
    return require_report(report, repr(str(path)))


def require_report(document: Any, where: str) -> Report:
    """The document, if what is compared of it has the shape of a report of this version.

    Args:
        document: What a file held, or ``make_report`` gave.
        where: What it is, for the error.

    Raises:
        ReportInvalid: It is no report, one of another version, or parts of it are missing.
    """
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise ReportInvalid(f"{where} is no report of `pincite eval run`.")
    if document.get("version") != VERSION:
        version = document.get("version")
        raise ReportInvalid(
            f"{where} is a report of version {version!r}, this is version {VERSION}."
        )
    read_shape(compared(document), where)
    return document


def _measures(verdicts: Sequence[Verdict], k: int) -> list[Values | None]:
    """Of each case; ``None`` where it names nothing that could be ranked."""
    valid = [one for one in verdicts if one.case.expected]
    relevant = [dict.fromkeys(one.case.expected, 1) for one in valid]
    values = iter(per_query(relevant, [_ranked(one) for one in valid], standard(k)))
    return [_rounded(next(values)) if one.case.expected else None for one in verdicts]


def _rounded(values: Values) -> Values:
    return {name: round(value, DIGITS) for name, value in values.items()}


def _ranked(verdict: Verdict) -> list[str]:
    """What came back, each once, best first, named as the case names what it expects."""
    blocks = verdict.answer.blocks
    if verdict.case.expected_evidence_keys:
        return list(dict.fromkeys(block.evidence_key for block in blocks))
    return list(dict.fromkeys(block.source for block in blocks))


def _case(verdict: Verdict, measures: Values | None) -> dict[str, Any]:
    case, answer = verdict.case, verdict.answer
    return {
        "id": case.id,
        "query": case.query,
        "corpus": answer.corpus,
        "kbScope": answer.kb_scope,
        "tags": sorted(set(case.tags)),
        "passed": verdict.passed,
        "hit": verdict.hit.value,
        "rank": verdict.rank,
        "failures": [asdict(failure) for failure in verdict.failures],
        "expected": [
            {"name": fate.name, "rank": fate.rank, "stage": fate.stage, "reason": fate.reason}
            for fate in verdict.fates
        ],
        "returned": [
            {"evidenceKey": block.evidence_key, "corpus": block.corpus, "source": block.source}
            for block in answer.blocks
        ],
        "path": _path(answer),
        "measures": measures,
    }


def _path(answer: Answer) -> dict[str, Any]:
    trace = answer.trace
    return {
        "selectedAttempt": trace.selected_attempt,
        "fallbackReason": trace.fallback_reason,
        "evidenceStatus": answer.evidence_status,
        "attempts": [{"name": one.name, "outcome": one.outcome} for one in trace.attempts],
        "degradations": sorted({one.code for one in trace.degradations}),
        "rerankApplied": answer.rerank.applied,
        "dropped": dict(sorted(Counter(_drop(d.stage, d.reason) for d in trace.dropped).items())),
    }


def _drop(stage: str, reason: str) -> str:
    return stage if stage == reason else f"{stage}: {reason}"


def _groups(cases: Sequence[Mapping[str, Any]], k: int) -> list[dict[str, Any]]:
    """Figures of all cases, of each corpus and of each tag."""
    corpora = sorted({case["corpus"] for case in cases})
    tags = sorted({tag for case in cases for tag in case["tags"]})
    return [
        _group("all", cases, k),
        *(_group(f"corpus: {n}", [c for c in cases if c["corpus"] == n], k) for n in corpora),
        *(_group(f"tag: {n}", [c for c in cases if n in c["tags"]], k) for n in tags),
    ]


def _group(name: str, cases: Sequence[Mapping[str, Any]], k: int) -> dict[str, Any]:
    return {
        "name": name,
        "cases": len(cases),
        "passed": sum(case["passed"] for case in cases),
        "hits": _counts(case["hit"] for case in cases),
        "evidence": _counts(case["path"]["evidenceStatus"] for case in cases),
        "fallbacks": sum(case["path"]["fallbackReason"] is not None for case in cases),
        "degraded": sum(bool(case["path"]["degradations"]) for case in cases),
        "measures": {measure: _mean(cases, measure) for measure in standard(k)},
    }


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _mean(cases: Sequence[Mapping[str, Any]], measure: str) -> dict[str, Any]:
    """The mean over the cases that can be measured, ``None`` where there is none."""
    values = [case["measures"][measure] for case in cases if case["measures"] is not None]
    mean = round(math.fsum(values) / len(values), DIGITS) if values else None
    return {"value": mean, "valid": len(values), "of": len(cases)}


def _observed(verdicts: Sequence[Verdict], origin: str) -> dict[str, Any]:
    """What another run has otherwise."""
    return {
        "createdAt": datetime.now(UTC).isoformat(timespec="seconds"),
        "pincite": __version__,
        "origin": origin,
        "latencyMs": {one.case.id: one.answer.trace.latency_ms for one in verdicts},
        "evidenceScore": {one.case.id: one.answer.evidence_score for one in verdicts},
        "stageLatencyMs": {one.case.id: _stage_times(one.answer) for one in verdicts},
    }


def _stage_times(answer: Answer) -> dict[str, int]:
    times: Counter[str] = Counter()
    for stage in answer.trace.stages:
        times[stage.name] += stage.latency_ms
    return dict(times)
