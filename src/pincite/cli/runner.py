"""Runs a coroutine of a command inside an open workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pincite.settings import Settings
from pincite.wiring import Report, Workspace, open_workspace, silent

T = TypeVar("T")


def run(
    settings: Settings,
    work: Callable[[Workspace], Awaitable[T]],
    report: Report = silent,
) -> T:
    """What ``work`` returns; the workspace is closed before this does."""

    async def inside() -> T:
        async with open_workspace(settings, report) as workspace:
            return await work(workspace)

    return asyncio.run(inside())
