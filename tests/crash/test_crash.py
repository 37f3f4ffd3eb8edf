"""An ingest that is killed, anywhere, is put right by the next one, and readers never notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from pincite.testing.crash_child import preload
from pincite.testing.crash_plan import NAMED, Crash, Plan, random_crashes
from pincite.testing.crash_rounds import run_plan, scenes_on
from pincite.testing.crash_scene import Outcome

SCENES = 4
RANDOM = 2
SEED = 4


@pytest.fixture(scope="module")
def outcomes(
    milvus_server_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[Crash, Outcome]:
    """What came of every named crash on the real server; they run side by side."""
    preload()
    scenes = scenes_on(tmp_path_factory.mktemp("named"), milvus_server_uri, SCENES)
    return {outcome.crash: outcome for outcome in run_plan(Plan(iter(NAMED)), scenes)}


@pytest.mark.parametrize("crash", NAMED, ids=str)
def test_an_ingest_killed_at_a_named_place_is_put_right(
    outcomes: dict[Crash, Outcome], crash: Crash
) -> None:
    assert outcomes[crash].problems == ()
    assert outcomes[crash].killed
    assert outcomes[crash].findings.questions


def test_an_ingest_killed_at_a_random_moment_is_put_right(
    lite_server_uri: str, tmp_path: Path
) -> None:
    preload()
    plan = Plan(random_crashes(SEED), RANDOM)
    outcomes = run_plan(plan, scenes_on(tmp_path, lite_server_uri, 1))
    assert [outcome.problems for outcome in outcomes] == [()] * RANDOM
    assert all(outcome.killed for outcome in outcomes)
