"""The folder that a benchmark works in: one that is gone afterwards, or one that is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pincite.errors import RequestInvalid

# Homes in such a folder are emptied without asking, so that no other folder may be taken for one.
MARK = ".pincite-benchmark"


@contextmanager
def benchmark_place(kept: Path | None) -> Iterator[Path]:
    """The folder to work in.

    Args:
        kept: A folder that stays, so that a second run is quick; it is made if it is not there.

    Raises:
        RequestInvalid: The folder holds something that is of no benchmark, or cannot be written.
    """
    if kept is not None:
        yield _marked(kept).resolve()
        return
    # An embedded store may still hold a file for a moment.
    with tempfile.TemporaryDirectory(
        prefix="pincite-benchmark-", ignore_cleanup_errors=True
    ) as name:
        yield Path(name).resolve()


def _marked(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark = folder / MARK
        if not mark.exists() and any(folder.iterdir()):
            raise RequestInvalid(
                f"{str(folder)!r} is not empty, and no benchmark made it.",
                "Give a new folder, or that of a former benchmark.",
            )
        mark.touch()
    except OSError as exc:
        raise RequestInvalid(
            f"{str(folder)!r} cannot be written: {exc.strerror}.", "Give another folder."
        ) from exc
    return folder
