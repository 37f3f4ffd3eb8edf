"""Compare documents with what the generation holds."""

import pyarrow as pa
from prefect import task

from pincite.schemas.documents import DOCUMENTS
from pincite.tasks.names import counted
from pincite.tasks.policy import CATALOG
from pincite.writing import compare as engine
from pincite.writing.tables import Compared
from pincite.writing.target import Target


@task(name="compare", task_run_name=counted("compare", "documents", "documents"), **CATALOG)
async def compare(target: Target, documents: pa.Table) -> Compared:
    """Documents to write, outcomes of those to leave, and refusals."""
    found = await engine.compare(target, DOCUMENTS.conform(documents))
    return found._replace(changed=DOCUMENTS.conform(found.changed))
