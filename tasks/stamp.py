"""Stamp what is in the store, record what failed."""

import pyarrow as pa
from prefect import task

from pincite.schemas.attempts import ATTEMPTS
from pincite.schemas.drafts import DRAFTS
from pincite.schemas.notices import NOTICES
from pincite.schemas.outcomes import OUTCOMES
from pincite.tasks.names import counted
from pincite.tasks.policy import CATALOG
from pincite.writing import stamp as engine
from pincite.writing.target import Target


@task(name="stamp", task_run_name=counted("stamp", "drafts", "documents"), **CATALOG)
async def stamp(target: Target, drafts: pa.Table, rows: pa.Table, stale: pa.Table) -> pa.Table:
    """Outcomes of the documents that are now stamped."""
    return OUTCOMES.conform(await engine.stamp(target, DRAFTS.conform(drafts), rows, stale))


@task(name="record failures", task_run_name=counted("record", "documents", "failures"), **CATALOG)
async def fail(target: Target, documents: pa.Table, notices: pa.Table) -> pa.Table:
    """Outcomes of the documents that failed; what the generation held of them stays."""
    documents, notices = ATTEMPTS.conform(documents), NOTICES.conform(notices)
    return OUTCOMES.conform(await engine.fail(target, documents, notices))
