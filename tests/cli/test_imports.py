"""What a command must not import."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("prefect", "great_expectations")


def imported(code: str, *arguments: str, **more: str) -> set[str]:
    """Top-level modules that the code has imported at its end."""
    report = "\nimport sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_help_imports_nothing_heavy():
    code = (
        "from pincite.cli.main import app\n"
        "try:\n    app(['--help'], standalone_mode=False)\nexcept SystemExit:\n    pass"
    )
    heavy = (*HEAVY, "pymilvus", "pyarrow", "pandas", "numpy", "sqlalchemy", "openai", "pydantic")
    assert not imported(code) & set(heavy)


@pytest.mark.parametrize("command", ["lookup", "ingest"])
def test_direct_paths_import_neither_prefect_nor_great_expectations(command, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Text.\n", "utf-8")
    arguments = {
        "lookup": ["lookup", "text"],
        "ingest": ["ingest", str(tmp_path / "notes"), "--direct"],
    }[command]
    code = (
        "import os\n"
        f"os.environ['PINCITE_HOME'] = {str(tmp_path / 'home')!r}\n"
        "os.environ['PINCITE_EMBEDDER__PROVIDER'] = 'hash'\n"
        "from pincite.cli.main import app\n"
        f"app({arguments!r}, standalone_mode=False)"
    )
    assert not imported(code) & set(HEAVY)
