"""A receipt in forms for people: Markdown and table rows."""

from __future__ import annotations

from typing import Any

from pincite.writing.receipt import Receipt

MAX_ROWS = 1_000


def receipt_markdown(receipt: Receipt) -> str:
    """The receipt as Markdown: counts in tables, then what went wrong."""
    lines = [f"# Ingest into {receipt.corpus}", "", f"Run `{receipt.run_id}`"]
    if receipt.kb_scope:
        lines.append(f"Scope `{receipt.kb_scope}`")
    lines += ["", f"{receipt.duration_ms / 1000:.1f} s", ""]
    for title in ("documents", "chunks", "embeddings"):
        lines += _counts(title, getattr(receipt, title))
    if receipt.error is not None:
        lines += ["", f"**{receipt.error.code}**: {receipt.error.message}"]
        lines += [receipt.error.next_step]
    lines += ["", f"{len(receipt.failures)} failures, {len(receipt.warnings)} warnings."]
    return "\n".join(lines)


def _counts(title: str, counts: dict[str, int]) -> list[str]:
    names = " | ".join(counts)
    rule = " | ".join("---:" for _ in counts)
    values = " | ".join(f"{value:,}" for value in counts.values())
    return ["", f"## {title.capitalize()}", "", f"| {names} |", f"| {rule} |", f"| {values} |"]


def quality_rows(receipt: Receipt) -> list[dict[str, Any]]:
    """One row per rule of the identity gate; one that says so when nothing was checked."""
    if not receipt.quality:
        return [{"rule": "nothing was written, so nothing was checked", "rows": 0, "failed": 0}]
    return [{**row, "result": "failed" if row["failed"] else "passed"} for row in receipt.quality]


def failure_rows(receipt: Receipt) -> list[dict[str, Any]]:
    """One row per failure, at most ``MAX_ROWS``; one that says so when there is none."""
    if not receipt.failures:
        return [{"doc_id": "no document failed", "source": "", "code": "", "message": ""}]
    rows = [dict(row) for row in receipt.failures[:MAX_ROWS]]
    left = len(receipt.failures) - len(rows)
    if left:
        rows.append({"doc_id": f"{left} more", "source": "", "code": "", "message": ""})
    return rows
