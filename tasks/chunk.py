"""Cut documents into chunks."""

import pyarrow as pa
from prefect import task

from pincite.schemas.chunks import CHUNKS
from pincite.schemas.documents import DOCUMENTS
from pincite.tasks.names import counted
from pincite.tasks.policy import CPU
from pincite.writing import chunk as engine
from pincite.writing.tables import Chunked


@task(name="chunk", task_run_name=counted("chunk", "documents", "documents"), **CPU)
async def chunk(documents: pa.Table) -> Chunked:
    """The documents' chunks, by document and index."""
    found = await engine.chunk(DOCUMENTS.conform(documents))
    return found._replace(chunks=CHUNKS.conform(found.chunks))
