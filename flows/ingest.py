"""Ingest: sync folders into a corpus, batch by batch."""

# Annotations stay values here: Prefect pickles flows, and text would lose its names.
from typing import Annotated, Any, Literal

from prefect import flow
from prefect.runtime import flow_run
from pydantic import Field

from pincite.errors import PinciteError
from pincite.tasks import check as check_task
from pincite.tasks import (
    chunk,
    compare,
    discover,
    embed,
    journal,
    publish,
    read,
    recover,
    remove,
    stamp,
    store,
)
from pincite.wiring import open_workspace
from pincite.writing.ingest import ingest as sync
from pincite.writing.receipt import Receipt
from pincite.writing.request import IngestRequest
from pincite.writing.steps import IngestSteps, WriteSteps

STEPS = IngestSteps(
    discover=discover.discover,
    read=read.read,
    write=WriteSteps(
        compare=compare.compare,
        chunk=chunk.chunk,
        journal=journal.journal,
        embed=embed.embed,
        check=check_task.check,
        upsert=store.upsert,
        read_back=store.read_back,
        trim=store.trim,
        stamp=stamp.stamp,
        fail=stamp.fail,
        remove=remove.remove,
        restore=recover.restore,
        roll_back=recover.roll_back,
        flush=store.flush,
    ),
)


def _run_name() -> str:
    given = flow_run.parameters
    names = ", ".join(path.rstrip("/").rpartition("/")[2] for path in given["paths"])
    return f"ingest {given['corpus']} @ {given['source'] or names}"


@flow(name="ingest", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
async def ingest(
    paths: Annotated[list[str], Field(min_length=1, description="folders or files to sync")],
    corpus: Annotated[str, Field(description="corpus to write into")] = "docs",
    source: Annotated[str | None, Field(description="name of the synced folder")] = None,
    kb_scope: Annotated[str, Field(max_length=256, description="isolation label")] = "",
    category: Annotated[str, Field(description="category of all documents")] = "",
    prune: Annotated[
        Literal["auto", "never", "force"], Field(description="delete what has no file any more")
    ] = "auto",
) -> dict[str, Any]:
    """Sync folders into the live generation of a corpus.

    Returns:
        The receipt. The run fails when something ended it after its writes: the receipt is then
        in the artifacts.
    """
    request = IngestRequest(tuple(paths), corpus, source, kb_scope, category, prune)
    async with open_workspace():
        receipt = await sync(request, STEPS, str(flow_run.id))
        await publish.publish(receipt)
    if receipt.error is not None:
        receipt.error.attributes["receipt"] = receipt.as_dict()
        raise receipt.error
    return receipt.as_dict()


async def run_ingest(request: IngestRequest) -> Receipt:
    """Run the flow and give its receipt, also where an error ended the run after its writes.

    Raises:
        PinciteError: The run could not be done.
    """
    try:
        return Receipt.from_dict(
            await ingest(
                list(request.paths),
                request.corpus,
                request.source,
                request.kb_scope,
                request.category,
                request.prune,
            )
        )
    except PinciteError as error:
        shown = error.attributes.get("receipt")
        if shown is None:
            raise
        return Receipt.from_dict(shown, error)
