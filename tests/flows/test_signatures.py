"""Flows as Prefect takes them to another process."""

from __future__ import annotations

import importlib
from pathlib import Path

import cloudpickle
import pytest

FLOWS = sorted(
    path.stem
    for path in (Path(__file__).resolve().parents[2] / "flows").glob("*.py")
    if path.stem != "__init__"
)
GIVEN = {
    "ingest": {"paths": ["notes"]},
    "retrieve": {"query": "Who?"},
    "maintain": {"corpora": ["memory"]},
    "evaluate": {"cases": "golden/cases.yaml", "out": "out"},
}


@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_that_was_pickled_still_checks_its_parameters(name):
    """``serve`` pickles flows; annotations that are only text lose their names there."""
    flow = getattr(importlib.import_module(f"pincite.flows.{name}"), name)
    copy = cloudpickle.loads(cloudpickle.dumps(flow))
    assert GIVEN[name].items() <= copy.validate_parameters(GIVEN[name]).items()
