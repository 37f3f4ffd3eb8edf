"""The committed golden set, live: green as it is, red for each way of breaking retrieval."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pincite.documents import markdown
from pincite.documents.frontmatter import Split, split_frontmatter
from pincite.evaluation.case_files import read_cases
from pincite.evaluation.run import DIRECT, Evaluation, EvaluationRequest, run_evaluation
from pincite.retrieval import one_corpus
from pincite.settings import Settings, load_settings
from pincite.wiring import open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT as WRITE

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
CASES = GOLDEN / "cases.yaml"


def settings_in(home: Path, **given: Any) -> Settings:
    """The defaults, as users have them."""
    overrides = {"home": home, **given}
    return load_settings(overrides, folder=home.parent, environment={})


async def seed(settings: Settings) -> None:
    (one,) = read_cases(CASES).seeds
    request = IngestRequest((str(one.folder),), source=one.source, kb_scope=one.kb_scope)
    async with open_workspace(settings):
        assert (await ingest(request, WRITE)).ok


async def evaluate(settings: Settings, out: Path) -> Evaluation:
    async with open_workspace(settings):
        return await run_evaluation(EvaluationRequest(str(CASES), str(out)), DIRECT)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the seed documents, embedded by the default embedder."""
    home = tmp_path_factory.mktemp("golden") / "home"
    asyncio.run(seed(settings_in(home)))
    return home


@pytest.fixture
def run(home: Path, tmp_path: Path) -> Any:
    """Runs the golden set on the seeded home, with other settings if any are given."""

    def run(**given: Any) -> Evaluation:
        return asyncio.run(evaluate(settings_in(home, **given), tmp_path / "out"))

    return run


def told(evaluation: Evaluation) -> set[tuple[str, str, str]]:
    """Tag, failed assertion and stage of everything that failed."""
    return {
        (tag, failure["assertion"], failure["stage"])
        for case in evaluation.report["cases"]
        for tag in case["tags"]
        for failure in case["failures"]
    }


def failed(evaluation: Evaluation) -> list[str]:
    return [case["id"] for case in evaluation.report["cases"] if not case["passed"]]


def test_the_golden_set_is_green_and_no_worse_than_the_accepted_report(run):
    evaluation = run()
    assert [f for case in evaluation.report["cases"] for f in case["failures"]] == []
    assert evaluation.diff is not None
    assert list(evaluation.regressions) == []
    assert evaluation.problem is None


def test_a_broken_retry_turns_it_red_at_the_search(run, monkeypatch):
    monkeypatch.setattr(one_corpus, "fallback_reason", lambda tried: None)
    evaluation = run()
    assert evaluation.problem is not None
    assert ("decoy", "expectedSelectedAttempt", "search") in told(evaluation)


def test_a_dropped_cap_turns_it_red_at_the_cap(run):
    evaluation = run(**{"rag.max-chunks-per-document": 1_000})
    assert evaluation.problem is not None
    assert ("document-cap", "expectedDropped", "document_cap") in told(evaluation)


@pytest.fixture
def leaking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that leaves the frontmatter in the body."""

    def leak(text: str) -> Split:
        return replace(split_frontmatter(text), body=text)

    monkeypatch.setattr(markdown, "split_frontmatter", leak)


def test_leaked_frontmatter_turns_it_red_at_the_chunks(home, tmp_path, leaking):
    other = tmp_path / "home"
    # Chunks that are the same in both homes are not embedded again.
    shutil.copytree(home / "cache", other / "cache")
    settings = settings_in(other)
    asyncio.run(seed(settings))
    evaluation = asyncio.run(evaluate(settings, tmp_path / "out"))
    assert evaluation.problem is not None
    assert ("frontmatter-only", "mustNotContain", "chunk") in told(evaluation)
