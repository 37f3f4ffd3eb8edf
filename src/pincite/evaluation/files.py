"""Writes what an evaluation leaves behind: each file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pincite.errors import RequestInvalid


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts under their names, as UTF-8 with LF; files of these names are replaced.

    The folder is made where it is not there. Two writers at once leave whole files of either.

    Raises:
        RequestInvalid: The folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            _replace(folder / name, text.encode("utf-8"))
    except OSError as exc:
        raise RequestInvalid(
            f"{str(folder)!r} cannot be written: {exc.strerror}.",
            "Give a folder that can be written.",
        ) from exc


def _replace(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
