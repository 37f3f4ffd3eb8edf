"""What only the maintain flow does: trim the ledger, tell the figures."""

import asyncio

from prefect import task

from pincite.catalog.retention import Trimmed
from pincite.figures.markdown import daily_markdown
from pincite.tasks.policy import CATALOG
from pincite.wiring import current_workspace
from pincite.writing import maintain as engine


@task(name="trim", task_run_name="trim the ledger", **CATALOG)
async def trim() -> Trimmed:
    """Forget what the ledger need not remember."""
    return await engine.trim()


@task(name="figures", task_run_name="figures of the last day", **CATALOG)
async def figures() -> list[tuple[str, str]]:
    """Each corpus with its figures over the last 24 hours as Markdown."""
    return await asyncio.to_thread(daily_markdown, current_workspace().catalog)
