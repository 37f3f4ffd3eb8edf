"""The README's example is run for real and gives what the README shows."""

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from pincite.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
TIMEOUT_S = 120
# Processors differ in the last bits of a vector.
SCORE_TOLERANCE = 0.01
_SCORE = re.compile(r"(?<=  )-?\d\.\d{3}$", re.MULTILINE)
_VOLATILE = {
    r"trace [0-9a-f]{32}": "trace <id>",
    r"\bin \d+\.\d s$": "in <time> s",
    r"\b\d+ ms$": "<time> ms",
    # The judgement in its two digits differs as scores do.
    r"SUFFICIENT \(0\.\d\d\)": "SUFFICIENT (<score>)",
    r"[ \t]+$": "",
}


@dataclass(frozen=True)
class Step:
    """One command of an example and the lines that it prints."""

    command: str
    shown: str


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def steps() -> list[Step]:
    """The commands of all console blocks, in order."""
    found = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append(Step(command, shown))
    return found


def environment() -> dict[str, str]:
    """The environment of somebody who has configured nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PINCITE_")}
    scripts = str(Path(sys.executable).parent)
    return {**kept, "PATH": os.pathsep.join((scripts, kept.get("PATH", "")))}


def run(command: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
    )
    assert (done.returncode, done.stderr) == (0, ""), command
    return done.stdout


def settled(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, replacement in _VOLATILE.items():
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return _SCORE.sub("<score>", text).strip()


def scores(text: str) -> list[float]:
    return [float(score) for score in _SCORE.findall(text)]


def test_the_example_gives_what_the_readme_shows(tmp_path: Path) -> None:
    for step in steps():
        printed = run(step.command, tmp_path)
        assert settled(printed) == settled(step.shown), step.command
        assert scores(printed) == pytest.approx(scores(step.shown), abs=SCORE_TOLERANCE)


def test_the_example_ingests_asks_and_cites() -> None:
    commands = [step.command for step in steps()]
    for name in ("ingest", "lookup", "cite", "verify"):
        assert any(command.startswith(f"pincite {name} ") or command == f"pincite {name}"
                   for command in commands), name  # fmt: skip
    assert all(step.shown.strip() for step in steps() if step.command.startswith("pincite"))


def test_configurations_are_settings_that_load(tmp_path: Path) -> None:
    assert blocks("toml")
    for number, block in enumerate(blocks("toml")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "pincite.toml").write_text(block, "utf-8")
        settings = load_settings(folder=folder, environment={})
        for section, values in tomllib.loads(block).items():
            loaded = getattr(settings, section)
            for key, value in values.items():
                assert getattr(loaded, key.replace("-", "_")) == value, key


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in set(re.findall(r"\bmake ([a-z]+)", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
