"""Status: what each corpus holds, what was run, and how lookups went."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pincite.catalog.activity import Run
from pincite.catalog.catalog import Catalog
from pincite.figures.corpora import all_figures, corpora_with_figures
from pincite.figures.figures import Figures, iso
from pincite.figures.shadow import shadow_of
from pincite.settings import Settings
from pincite.stack import running_stack

SHOWN_FAILURES = 20


def status_of(catalog: Catalog, settings: Settings) -> dict[str, Any]:
    """The status as a JSON document; times are ISO 8601, UTC."""
    stack = running_stack(settings.home)
    figures = all_figures(catalog, corpora_with_figures(catalog))
    return {
        "home": str(settings.home),
        "stack": asdict(stack) if stack else None,
        "corpora": {name: _corpus(catalog, name, one) for name, one in figures.items()},
        "runs": [_run(run) for run in catalog.activity.runs()],
    }


def _corpus(catalog: Catalog, name: str, figures: Figures) -> dict[str, Any]:
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
        "items": dict(figures.items),
        "lookups": _lookups(figures),
        "shadow": shadow_of(catalog, name).as_dict(),
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


def _lookups(figures: Figures) -> dict[str, Any]:
    """What the corpus's entry says already is left out."""
    said = ("corpus", "since", "items")
    return {name: value for name, value in figures.as_dict().items() if name not in said}


def _run(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "flow_run_id": run.flow_run_id or None,
        "action": run.action,
        "corpus": run.corpus,
        "state": run.state,
        "started_at": iso(run.started_at),
        "finished_at": iso(run.finished_at),
        "documents": run.receipt.get("documents"),
        "chunks": run.receipt.get("chunks"),
        "error": run.receipt.get("error"),
    }
