"""IN lists in parts: databases bound their length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

IN_LIST = 500

T = TypeVar("T")


def slices(values: Sequence[T], size: int = IN_LIST) -> Iterator[Sequence[T]]:
    """Consecutive parts of at most ``size``."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
