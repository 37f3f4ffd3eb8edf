"""Tables and versions for the reports, in Markdown."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """A table whose first ``words`` columns hold words and whose others hold figures."""
    marks = ["---" if at < words else "---:" for at in range(len(head))]
    lines = [" | ".join(row) for row in (head, marks, *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def versions(packages: Sequence[str]) -> str:
    """Versions of Python and of the packages that are installed."""
    named = [f"Python {platform.python_version()}"]
    for package in packages:
        try:
            named.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(named)


def held(figure: float, least: float) -> str:
    """The figure, and whether it is at or above the aim, as printed."""
    return f"{figure:.3f} {'met' if round(figure, 3) >= round(least, 3) else 'missed'}"


def kept_under(figure: float, most: float) -> str:
    """The figure, and whether it is at or under the aim, as printed."""
    return f"{figure:.3f} {'met' if round(figure, 3) <= round(most, 3) else 'missed'}"
