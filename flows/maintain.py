"""Maintain: recover, write what waits, remove what has expired, tell the figures."""

# Annotations stay values here: Prefect pickles flows, and text would lose its names.
from typing import Annotated, Any

from prefect import flow
from prefect.runtime import flow_run
from pydantic import Field

from pincite.catalog.retention import Trimmed
from pincite.errors import PinciteError
from pincite.flows.ingest import STEPS as INGEST
from pincite.tasks import maintain as tasks
from pincite.tasks import publish
from pincite.wiring import open_workspace
from pincite.writing.maintain import Maintained, MaintainSteps
from pincite.writing.maintain import maintain as bring_into_order
from pincite.writing.receipt import Receipt

STEPS = MaintainSteps(INGEST.write, tasks.trim)


def _run_name() -> str:
    given = flow_run.parameters["corpora"]
    return f"maintain {', '.join(given) if given else 'all corpora'}"


@flow(name="maintain", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
async def maintain(
    corpora: Annotated[
        list[str] | None, Field(description="corpora to look after; none = all with items")
    ] = None,
) -> dict[str, Any]:
    """Bring the corpora of items into order, and publish the figures of every corpus.

    Returns:
        ``{"corpora": {name: receipt}, "trimmed": counts}``. The run fails when a corpus could not
        be done, after the others are.
    """
    async with open_workspace():
        done = await bring_into_order(corpora or [], STEPS, str(flow_run.id))
        for receipt in done.corpora.values():
            if isinstance(receipt, Receipt):
                await publish.publish(receipt, "maintain")
        for name, markdown in await tasks.figures():
            await publish.publish_figures(name, markdown)
    for error in done.corpora.values():
        if not isinstance(error, Receipt):
            error.attributes["maintained"] = done
            raise error
    return done.as_dict()


async def run_maintain(corpora: list[str]) -> Maintained:
    """Run the flow and give what it did, also where a corpus ended it as failed.

    Raises:
        PinciteError: The run could not be done.
    """
    try:
        shown = await maintain(corpora)
    except PinciteError as error:
        done = error.attributes.get("maintained")
        if done is None:
            raise
        failed: Maintained = done
        return failed
    receipts = {name: Receipt.from_dict(one) for name, one in shown["corpora"].items()}
    return Maintained(receipts, Trimmed(**shown["trimmed"]))
