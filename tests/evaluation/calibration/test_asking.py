"""A live calibration: what it predicts is what lookups with its lines then say."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pincite.errors import CasesInvalid
from pincite.evaluation.asking import ask_all
from pincite.evaluation.calibration.asking import calibrate_live
from pincite.evaluation.calibration.result import Calibration, Confusion, confusion
from pincite.evaluation.cases import GoldenCase
from pincite.settings import load_settings
from pincite.testing.evaluation import golden_case
from pincite.wiring import Workspace, open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

# For each category: a passage, a question that it answers, and one that none does.
PAGES = [
    ("bees", "Bees dance to show the way to a meadow.", "How do bees show the way to a meadow?"),
    ("bees", "A hive has one queen and many workers.", "How many queens has a hive?"),
    ("tides", "The moon raises the tides twice a day.", "What raises the tides?"),
    ("tides", "A harbour dries out at low water.", "When does a harbour dry out?"),
    ("bread", "Sourdough rises by wild yeast.", "What makes sourdough rise?"),
    ("bread", "An oven stone holds the heat for the crust.", "What holds heat for the crust?"),
    ("ink", "Iron gall ink darkens as it dries.", "Which ink darkens as it dries?"),
    ("ink", "A quill is cut with a small knife.", "What is a quill cut with?"),
]
STRAYS = [
    "How do wasps build a nest?",
    "Who pays for a harbour pilot?",
    "What does a violin cost?",
    "When was the telescope invented?",
    "Which stone is the hardest?",
    "How long is the Danube?",
]


def cases(**asked: Any) -> list[GoldenCase]:
    given = {"kbScope": "", **asked}
    return [
        *(
            golden_case(f"a{at}", query=question, expectedSources=[f"pages/{at}.md"], **given)
            for at, (_, _, question) in enumerate(PAGES)
        ),
        *(
            golden_case(f"u{at}", query=question, answerable=False, **given)
            for at, question in enumerate(STRAYS)
        ),
    ]


async def workspace_work(home: Path, embedder: str, work: Any) -> Any:
    settings = load_settings(
        {"home": home, "embedder.provider": embedder}, folder=home.parent, environment={}
    )
    async with open_workspace(settings) as workspace:
        await ingest(IngestRequest((str(home.parent / "pages"),)), DIRECT)
        return await work(workspace)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A home for each embedder, beside the folder of its pages."""
    found = {}
    for embedder in ("hash", "local"):
        place = tmp_path_factory.mktemp(embedder)
        (place / "pages").mkdir()
        for at, (category, text, _) in enumerate(PAGES):
            page = f"---\ncategory: {category}\n---\n{text}\n"
            (place / "pages" / f"{at}.md").write_text(page, "utf-8")
        found[embedder] = place / "home"
    return found


def run(places: dict[str, Path], embedder: str, work: Any) -> Any:
    return asyncio.run(workspace_work(places[embedder], embedder, work))


async def both(workspace: Workspace, asked: Sequence[GoldenCase]) -> tuple[Calibration, Confusion]:
    """The calibration, and what the lookup says with all of its lines in force."""
    found = await calibrate_live(asked, workspace, 0.2)
    names = ("threshold", "low_quality", "weak")
    cuts = {name: line.cut for name, line in zip(names, found.lines, strict=True)}
    results = await ask_all(asked, workspace, **cuts)
    pairs = zip(asked, results, strict=True)
    return found, confusion((bool(one.expected), got["evidenceStatus"]) for one, got in pairs)


@pytest.mark.parametrize("embedder", ["hash", "local"])
@pytest.mark.parametrize("asked", [{}, {"category": "ink"}, {"mode": "dense"}])
def test_lookups_with_the_lines_say_what_was_predicted(places, embedder, asked):
    found, seen = run(places, embedder, lambda workspace: both(workspace, cases(**asked)))
    assert found.at_lines == seen
    assert found.threshold.lost <= 0.2 * found.threshold.of
    assert found.threshold.of == len(PAGES)


def test_passages_that_the_filter_hides_are_seen(places):
    asked = cases(category="ink")
    found = run(places, "hash", lambda workspace: calibrate_live(asked, workspace))
    assert found.threshold.of == len(PAGES)


def test_what_is_in_force_is_asked_with_the_settings_alone(places):
    """Lines of the cases themselves, and of the calibration, do not count."""
    asked = cases(weak=1.0, threshold=0.99)
    found = run(places, "hash", lambda workspace: calibrate_live(asked, workspace))
    assert found.in_force.answerable == Counter(SUFFICIENT=len(PAGES))
    assert found.threshold.cut < 0.99


def test_the_models_own_judgement_is_in_force_where_no_line_is_set(places):
    found = run(places, "local", lambda workspace: calibrate_live(cases(), workspace))
    assert found.in_force.unanswerable["WEAK"] > 0


def test_lexical_mode_has_no_cosine_to_cut(places):
    asked = cases(mode="lexical")
    with pytest.raises(CasesInvalid, match="lexical mode"):
        run(places, "hash", lambda workspace: calibrate_live(asked, workspace))


def test_a_kind_that_is_missing_is_told_before_anything_is_asked(places):
    """The corpus of this home does not hold what the cases name, which asking would tell."""
    asked = [golden_case("a", expectedSources=["pages/none.md"], kbScope="")]
    with pytest.raises(CasesInvalid, match="No case is unanswerable"):
        run(places, "hash", lambda workspace: calibrate_live(asked, workspace))
