"""``pincite eval calibrate``."""

from __future__ import annotations


def calibrate() -> int:
    raise NotImplementedError
