"""Figures of the corpora, for the artifacts of the maintain flow."""

import asyncio

from prefect import task

from pincite.figures import daily_markdown
from pincite.tasks.policy import CATALOG
from pincite.wiring import current_workspace


@task(name="figures", task_run_name="figures of the last day", **CATALOG)
async def figures() -> list[tuple[str, str]]:
    """Each corpus with its figures over the last 24 hours as Markdown."""
    return await asyncio.to_thread(daily_markdown, current_workspace().catalog)
