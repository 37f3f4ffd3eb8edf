"""A workspace on the in-memory store, and folders to ingest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pincite.testing.homes import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def make_home(tmp_path: Path) -> Callable[..., Home]:
    """Another view of the same home with other settings."""
    return lambda **settings: Home(tmp_path, **settings)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder ``notes`` with three documents."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("ant", "bee", "cat"):
        (notes / f"{name}.md").write_text(f"# {name}\n\nEverything about the {name}.\n", "utf-8")
    return notes
