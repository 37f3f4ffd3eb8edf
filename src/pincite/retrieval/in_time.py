"""The fence in time around a call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def in_time(work: Awaitable[T], timeout_s: float) -> T:
    """What comes of the work.

    Raises:
        TimeoutError: Nothing did within ``timeout_s``.
        RuntimeError: Something inside of it was cancelled; the caller was not.
        CancelledError: The caller is cancelled.
    """
    before = _cancellations()
    try:
        async with asyncio.timeout(timeout_s):
            return await work
    except asyncio.CancelledError as exc:
        if _cancellations() > before:
            raise
        raise RuntimeError("the call cancelled itself") from exc


def _cancellations() -> int:
    task = asyncio.current_task()
    return task.cancelling() if task else 0
