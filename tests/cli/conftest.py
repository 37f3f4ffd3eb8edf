"""The command line as people and scripts run it: a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

TIMEOUT_S = 120


@dataclass(frozen=True)
class Ran:
    """What a command printed and how it ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def environment(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without settings, plus a home and the hash embedder."""
    bare = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PINCITE_", "PREFECT_"))
    }
    own = {"PINCITE_HOME": str(home), "PINCITE_EMBEDDER__PROVIDER": "hash"}
    # A profile of the person who runs the tests must not decide where flows go.
    return {**bare, **own, "PREFECT_HOME": str(home / "prefect-home"), **more}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with a folder of documents in it."""
    place = tmp_path_factory.mktemp("cli")
    notes = place / "notes"
    notes.mkdir()
    (notes / "paris.md").write_text(
        "---\ntitle: Paris\ncategory: cities\n---\n# Paris\n\nThe capital of France is Paris.\n",
        "utf-8",
    )
    (notes / "water.md").write_text("# Water\n\nWater boils at 100 degrees.\n", "utf-8")
    return place


class Pincite:
    """Runs ``pincite`` with arguments in the working folder."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def environment(self, home: Path, **more: str) -> dict[str, str]:
        return environment(home, more)

    def __call__(self, *arguments: str, home: Path | None = None, **more: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "pincite", *arguments],
            cwd=self.place,
            env=environment(home or self.place / "home", more),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def pincite(place: Path) -> Pincite:
    return Pincite(place)
