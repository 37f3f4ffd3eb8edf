"""Journal document versions before the store is touched."""

import pyarrow as pa
from prefect import task

from pincite.schemas.chunks import CHUNKS
from pincite.schemas.documents import DOCUMENTS
from pincite.schemas.drafts import DRAFTS
from pincite.tasks.names import counted
from pincite.tasks.policy import CATALOG
from pincite.writing import journal as engine
from pincite.writing.tables import Journalled
from pincite.writing.target import Target


@task(name="journal", task_run_name=counted("journal", "documents", "documents"), **CATALOG)
async def journal(target: Target, documents: pa.Table, chunks: pa.Table) -> Journalled:
    """New versions, kept texts and ledger rows."""
    found = await engine.journal(target, DOCUMENTS.conform(documents), CHUNKS.conform(chunks))
    return found._replace(drafts=DRAFTS.conform(found.drafts), chunks=CHUNKS.conform(found.chunks))
