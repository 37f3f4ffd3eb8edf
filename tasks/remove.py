"""Remove documents from the generation."""

from prefect import task

from pincite.tasks.names import counted
from pincite.tasks.policy import STORE
from pincite.writing import remove as engine
from pincite.writing.tables import Removed
from pincite.writing.target import Target


@task(name="remove", task_run_name=counted("remove", "doc_ids", "documents"), **STORE)
async def remove(target: Target, doc_ids: list[str]) -> Removed:
    """Outcomes of the documents whose absence is confirmed."""
    return await engine.remove(target, doc_ids)
