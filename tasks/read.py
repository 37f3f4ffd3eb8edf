"""Read files into documents."""

import pyarrow as pa
from prefect import task

from pincite.corpora.port import Read
from pincite.schemas.documents import DOCUMENTS
from pincite.schemas.files import FILES as FILES_TABLE
from pincite.tasks.names import counted
from pincite.tasks.policy import FILES
from pincite.writing import read as engine


@task(name="read", task_run_name=counted("read", "files", "files"), **FILES)
async def read(corpus: str, files: pa.Table) -> Read:
    """Documents of these files; a file that cannot be read fails alone."""
    found = await engine.read(corpus, FILES_TABLE.conform(files))
    return found._replace(documents=DOCUMENTS.conform(found.documents))
