"""Status: what each corpus holds, what was run, and how lookups went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from pincite.catalog.activity import LookupLine, Run
from pincite.catalog.catalog import Catalog
from pincite.settings import Settings
from pincite.stack import running_stack

SHOWN_FAILURES = 20


def status_of(catalog: Catalog, settings: Settings) -> dict[str, Any]:
    """The status as a JSON document; times are ISO 8601, UTC."""
    stack = running_stack(settings.home)
    names = catalog.generations.corpora()
    return {
        "home": str(settings.home),
        "stack": asdict(stack) if stack else None,
        "corpora": {name: _corpus(catalog, name) for name in names},
        "runs": [_run(run) for run in catalog.activity.runs()],
    }


def _corpus(catalog: Catalog, name: str) -> dict[str, Any]:
    live = catalog.generations.live(name)
    states = catalog.documents.count_states(name, live.number) if live else {}
    chunks = states.pop("chunks", 0)
    return {
        "generation": live.number if live else None,
        "collection": live.collection if live else None,
        "generations": [one.number for one in catalog.generations.all(name)],
        "documents": states,
        "chunks": chunks,
        "failures": _failures(catalog, name, live.number) if live else [],
        "lookups": _lookups(catalog.activity.lookups(name, blocks=False)),
    }


def _failures(catalog: Catalog, name: str, generation: int) -> list[dict[str, Any]]:
    return [
        {
            "doc_id": one.doc_id,
            "code": one.error_code,
            "message": one.error_message,
            "attempts": one.attempts,
            "still_served": one.version > 0,
        }
        for one in catalog.documents.failed(name, generation, SHOWN_FAILURES)
    ]


def _lookups(lines: Sequence[LookupLine]) -> dict[str, Any]:
    latencies = sorted(line.latency_ms for line in lines)
    degraded = Counter(code for line in lines for code in line.degradations)
    hits = sum(line.hit_count > 0 for line in lines)
    return {
        "count": len(lines),
        "hit_rate": hits / len(lines) if lines else None,
        "latency_ms": {"p50": _percentile(latencies, 50), "p95": _percentile(latencies, 95)},
        "degradations": dict(sorted(degraded.items())),
    }


def _percentile(ordered: Sequence[int], percent: int) -> int | None:
    """The nearest-rank percentile; ``None`` of nothing."""
    if not ordered:
        return None
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _run(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "flow_run_id": run.flow_run_id or None,
        "action": run.action,
        "corpus": run.corpus,
        "state": run.state,
        "started_at": _iso(run.started_at),
        "finished_at": _iso(run.finished_at),
        "documents": run.receipt.get("documents"),
        "chunks": run.receipt.get("chunks"),
        "error": run.receipt.get("error"),
    }


def _iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")
