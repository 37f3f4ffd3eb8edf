"""Find the files of a folder sync."""

from prefect import task

from pincite.tasks.policy import FILES
from pincite.writing import discover as engine
from pincite.writing.found import Discovered
from pincite.writing.request import IngestRequest


@task(name="discover", task_run_name="discover files for {request.corpus}", **FILES)
async def discover(request: IngestRequest) -> Discovered:
    """Files to read and what was seen of each source."""
    return await engine.discover(request)
