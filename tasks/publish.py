"""Publish the results of a run as Prefect artifacts."""

from typing import Any

from prefect import task
from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

from pincite.tasks.policy import PLAIN
from pincite.writing.receipt import Receipt
from pincite.writing.report import failure_rows, quality_rows, receipt_markdown


@task(name="publish", task_run_name="publish the receipt of {receipt.corpus}", **PLAIN)
async def publish(receipt: Receipt, action: str = "ingest") -> None:
    """The receipt as Markdown, the quality result and the failures as tables.

    The keys are stable, so that each artifact's history can be followed.
    """
    name = f"{action}-{receipt.corpus}"
    await acreate_markdown_artifact(
        receipt_markdown(receipt),
        key=f"{name}-receipt",
        description=f"What the run of {action} did in corpus {receipt.corpus}.",
    )
    await _table(f"{name}-quality", quality_rows(receipt), "Identity suite")
    await _table(f"{name}-failures", failure_rows(receipt), "Failed documents")


@task(name="publish figures", task_run_name="publish the figures of {corpus}", **PLAIN)
async def publish_figures(corpus: str, markdown: str) -> None:
    """Figures of a corpus over the last day, and how core and legacy path differ, as Markdown."""
    await acreate_markdown_artifact(
        markdown, key=f"figures-{corpus}", description=f"Lookups in corpus {corpus}, last 24 hours."
    )


async def _table(key: str, rows: list[dict[str, Any]], description: str) -> None:
    await acreate_table_artifact(rows, key=key, description=description)
