"""Restore what a killed writer left half written."""

from prefect import task

from pincite.schemas.documents import DOCUMENTS
from pincite.tasks.policy import CATALOG
from pincite.writing import recover as engine
from pincite.writing.tables import Restored
from pincite.writing.target import Target


@task(name="restore", task_run_name="restore half written documents", **CATALOG)
async def restore(target: Target) -> Restored:
    """Documents to write again and documents to remove for good."""
    found = await engine.restore(target)
    return found._replace(documents=DOCUMENTS.conform(found.documents))


@task(name="roll back", task_run_name="take back what could not be written", **CATALOG)
async def roll_back(target: Target) -> Restored:
    """Stamped versions to write again and documents to remove for good."""
    found = await engine.roll_back(target)
    return found._replace(documents=DOCUMENTS.conform(found.documents))
