"""Check rows with the Great Expectations identity suite."""

import pyarrow as pa
from prefect import task

from pincite.expectations.rows import judge
from pincite.schemas.rows import rows_contract
from pincite.tasks.names import counted
from pincite.tasks.policy import CPU
from pincite.writing import check as engine
from pincite.writing.tables import Checked
from pincite.writing.target import Target


@task(name="check", task_run_name=counted("check", "rows", "rows"), **CPU)
async def check(target: Target, rows: pa.Table) -> Checked:
    """Rows that meet every rule; a document with one bad row is held back whole."""
    contract = rows_contract(target.recipe.dim)
    found = await engine.checked_by(judge, target, contract.conform(rows))
    return found._replace(rows=contract.conform(found.rows))
