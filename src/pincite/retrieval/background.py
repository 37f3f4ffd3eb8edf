"""Work that goes on after an answer is given, and is waited for before the process ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger(__name__)


class Background:
    """Coroutines of the running event loop; what one of them raises is logged and no more."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Let it run beside whatever comes next."""
        task = asyncio.get_running_loop().create_task(_guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Wait until all of it has ended."""
        loop = asyncio.get_running_loop()
        while mine := [task for task in self._tasks if task.get_loop() is loop]:
            await asyncio.gather(*mine, return_exceptions=True)
            self._tasks.difference_update(mine)


async def _guarded(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception as error:
        logger.warning("work in the background failed: %s", type(error).__name__)
