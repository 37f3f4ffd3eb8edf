"""The words of a chunk by which full text finds it."""

from __future__ import annotations

from collections.abc import Iterable

from pincite.analysis import analyze
from pincite.store.native import TERMS_BYTES


def row_terms(title: str, heading: str, content: str) -> str:
    """The analysed words of title, heading path and content, in this order.

    A heading path often begins with the title; its words are not added twice, for they would
    outweigh those of the content. Cut at a whole word where a row has no more room.
    """
    named = analyze(title)
    known = set(named)
    inner = [word for word in analyze(heading) if word not in known]
    return _joined([*named, *inner, *analyze(content)], TERMS_BYTES)


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
