"""The words of a chunk by which full text finds it."""

from __future__ import annotations

from collections.abc import Iterable

from pincite.analysis import above_terms, analyze
from pincite.store.native import TERMS_BYTES


def row_terms(title: str, heading: str, content: str) -> str:
    """The terms of title and heading path, then those of the content.

    Cut at a whole term where a row has no more room.
    """
    return _joined([*above_terms(title, heading), *analyze(content)], TERMS_BYTES)


def _joined(words: Iterable[str], limit: int) -> str:
    """The words with single spaces between, as many as ``limit`` UTF-8 bytes hold."""
    kept: list[str] = []
    room = limit + 1
    for word in words:
        room -= len(word.encode("utf-8")) + 1
        if room < 0:
            break
        kept.append(word)
    return " ".join(kept)
