"""Publish the results of a run as Prefect artifacts."""

from typing import Any

from prefect import task
from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

from pincite.tasks.policy import PLAIN
from pincite.writing.receipt import Receipt
from pincite.writing.report import failure_rows, quality_rows, receipt_markdown


@task(name="publish", task_run_name="publish the receipt of {receipt.corpus}", **PLAIN)
async def publish(receipt: Receipt) -> None:
    """The receipt as Markdown, the quality result and the failures as tables.

    The keys are stable, so that each artifact's history can be followed.
    """
    await acreate_markdown_artifact(
        receipt_markdown(receipt),
        key=f"ingest-{receipt.corpus}-receipt",
        description=f"What the ingest into corpus {receipt.corpus} did.",
    )
    await _table(f"ingest-{receipt.corpus}-quality", quality_rows(receipt), "Identity suite")
    await _table(f"ingest-{receipt.corpus}-failures", failure_rows(receipt), "Failed documents")


async def _table(key: str, rows: list[dict[str, Any]], description: str) -> None:
    await acreate_table_artifact(rows, key=key, description=description)
