"""`python -m pincite.testing.slow_serve …` is `pincite …` with a store whose searches take long.

``PINCITE_TEST_SEARCH_MS`` says how long; the first one, which warms up, is as quick as ever.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from functools import cached_property
from typing import Any

from pincite.cli import main
from pincite.testing.faults import Instead
from pincite.wiring import Workspace

DELAY = "PINCITE_TEST_SEARCH_MS"


def slow_store(workspace: Workspace) -> Any:
    """The workspace's own store behind the delay."""
    real, count = _make(workspace), itertools.count()

    async def search(*arguments: Any) -> Any:
        if next(count):
            await asyncio.sleep(int(os.environ[DELAY]) / 1000)
        return await real.search(*arguments)

    return Instead(real, search=search)


_make: Any = vars(Workspace)["store"].func

if __name__ == "__main__":
    slow: Any = cached_property(slow_store)
    slow.__set_name__(Workspace, "store")
    Workspace.store = slow
    main()
