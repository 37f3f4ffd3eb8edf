"""Embed chunks."""

import pyarrow as pa
from prefect import task

from pincite.schemas.chunks import CHUNKS
from pincite.schemas.rows import rows_contract
from pincite.tasks.names import counted
from pincite.tasks.policy import EMBED
from pincite.writing import embed as engine
from pincite.writing.tables import Embedded
from pincite.writing.target import Target


@task(name="embed", task_run_name=counted("embed", "chunks", "chunks"), **EMBED)
async def embed(target: Target, chunks: pa.Table) -> Embedded:
    """Rows with vectors; a document with one refused chunk fails whole."""
    found = await engine.embed(target, CHUNKS.conform(chunks))
    return found._replace(rows=rows_contract(target.recipe.dim).conform(found.rows))
