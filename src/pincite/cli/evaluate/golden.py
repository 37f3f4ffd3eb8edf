"""The project's own golden set, which commands use when no cases are given."""

from __future__ import annotations

from pathlib import Path


def golden_cases() -> Path:
    """The file of the golden cases that ship with the package."""
    import pincite

    return (Path(pincite.__file__).parent / "golden" / "cases.yaml").resolve()
