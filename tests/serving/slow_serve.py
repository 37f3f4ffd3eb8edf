"""`python slow_serve.py …` is `pincite …` with a store whose searches take long.

``PINCITE_TEST_SEARCH_MS`` says how long; those for one hit, which warm up, are as quick as ever.
"""

from __future__ import annotations

import asyncio
import os
from functools import cached_property
from typing import Any

from pincite.cli import main
from pincite.store.port import Hit, TextQuery, VectorQuery
from pincite.testing.faults import Instead
from pincite.wiring import Workspace

DELAY = "PINCITE_TEST_SEARCH_MS"


def slow_store(workspace: Workspace) -> Any:
    """The workspace's own store behind the delay."""
    real = _make(workspace)

    async def search(collection: str, query: VectorQuery | TextQuery) -> list[Hit]:
        if query.limit > 1:
            await asyncio.sleep(int(os.environ[DELAY]) / 1000)
        hits: list[Hit] = await real.search(collection, query)
        return hits

    return Instead(real, search=search)


_make: Any = vars(Workspace)["store"].func

if __name__ == "__main__":
    slow: Any = cached_property(slow_store)
    slow.__set_name__(Workspace, "store")
    Workspace.store = slow
    main()
