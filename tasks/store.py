"""Write rows to the store, read them back, trim what is older."""

import pyarrow as pa
from prefect import task

from pincite.schemas.drafts import DRAFTS
from pincite.schemas.keys import KEYS
from pincite.schemas.rows import rows_contract
from pincite.tasks.names import counted
from pincite.tasks.policy import STORE
from pincite.writing import store as engine
from pincite.writing.tables import ReadBack
from pincite.writing.target import Target


@task(name="upsert", task_run_name=counted("upsert", "rows", "rows"), **STORE)
async def upsert(target: Target, rows: pa.Table) -> int:
    """Write the rows; writing them again changes nothing."""
    return await engine.upsert(target, rows_contract(target.recipe.dim).conform(rows))


@task(name="read back", task_run_name=counted("read back", "rows", "rows"), **STORE)
async def read_back(target: Target, drafts: pa.Table, rows: pa.Table) -> ReadBack:
    """Rows that are missing, and rows that are older than what was written."""
    return await engine.read_back(target, DRAFTS.conform(drafts), rows)


@task(name="trim", task_run_name=counted("trim", "stale", "rows"), **STORE)
async def trim(target: Target, stale: pa.Table) -> int:
    """Delete rows and confirm that they are gone."""
    return await engine.trim(target, KEYS.conform(stale))


@task(name="flush", task_run_name="flush {target.collection}", **STORE)
async def flush(target: Target) -> None:
    """Make what was written quick to search."""
    await engine.flush(target)
