"""``pincite ingest``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pincite.cli.output import exit_status, note, print_json, say

if TYPE_CHECKING:
    from pincite.settings import Settings
    from pincite.wiring import Report
    from pincite.writing.receipt import Receipt
    from pincite.writing.request import IngestRequest


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Folders to sync, or files.")],
    corpus: Annotated[str, typer.Option(help="Corpus to write into.")] = "docs",
    source: Annotated[
        str | None, typer.Option(help="Name of the folder in every doc_id; default: its own.")
    ] = None,
    kb_scope: Annotated[str | None, typer.Option(help="Isolation label.")] = None,
    category: Annotated[str, typer.Option(help="Category of all documents.")] = "",
    prune: Annotated[
        str, typer.Option(help="Delete what has no file any more: auto, never or force.")
    ] = "auto",
    dry_run: Annotated[bool, typer.Option(help="Say what would change, change nothing.")] = False,
    direct: Annotated[bool, typer.Option(help="Run without an orchestrator.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the receipt as JSON.")] = False,
) -> int:
    """Sync folders of documents into a corpus."""
    from pincite.scopes import pick_kb_scope
    from pincite.settings import load_settings
    from pincite.writing.request import IngestRequest

    request = IngestRequest(
        tuple(str(path) for path in paths),
        corpus,
        source,
        pick_kb_scope("", kb_scope),
        category,
        prune,  # type: ignore[arg-type]
    )
    settings = load_settings()
    if dry_run:
        return _preview(settings, request, as_json=json)
    receipt = run_ingest(settings, request, direct=direct, quiet=json)
    if json:
        print_json(receipt.as_dict())
    else:
        print_receipt(receipt)
    if receipt.error is not None:
        return exit_status(receipt.error)
    return 0 if receipt.ok else 1


def run_ingest(
    settings: Settings, request: IngestRequest, *, direct: bool, quiet: bool = False
) -> Receipt:
    """Run the ingest with progress on a terminal, as a flow or directly."""
    from pincite.cli.progress import progress

    with progress(quiet=quiet) as report:
        run = _run_direct if direct else _run_flow
        return run(settings, request, report)


def _run_direct(settings: Settings, request: IngestRequest, report: Report) -> Receipt:
    from pincite.cli.runner import run
    from pincite.writing.ingest import ingest as sync
    from pincite.writing.steps import DIRECT

    return run(settings, lambda _: sync(request, DIRECT), report)


def _run_flow(settings: Settings, request: IngestRequest, report: Report) -> Receipt:
    from pincite.cli.orchestrator import use_prefect
    from pincite.cli.runner import run

    use_prefect(settings, "--direct goes without")
    from pincite.flows.ingest import run_ingest as run_the_flow

    return run(settings, lambda _: run_the_flow(request), report)


def print_receipt(receipt: Receipt, done: str = "Ingested into") -> None:
    """The receipt for a person."""
    documents, chunks, embeddings = receipt.documents, receipt.chunks, receipt.embeddings
    say(f"{done} {receipt.corpus} in {receipt.duration_ms / 1000:.1f} s")
    say(f"  documents   {_counts(documents)}")
    say(f"  chunks      {_counts(chunks)}")
    say(f"  embeddings  {_counts(embeddings)}")
    for entry in receipt.warnings[:10]:
        note(f"  warning {entry['code']} {entry['source']}: {entry['message']}")
    for entry in receipt.failures[:20]:
        note(f"  failed  {entry['code']} {entry['source']}: {entry['message']}")
    _more("warnings", len(receipt.warnings) - 10)
    _more("failures", len(receipt.failures) - 20)
    if receipt.error is not None:
        note(str(receipt.error))


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{value:,} {name}" for name, value in counts.items() if value) or "none"


def _more(what: str, number: int) -> None:
    if number > 0:
        note(f"  … and {number:,} more {what}; --json shows all.")


def _preview(settings: Settings, request: IngestRequest, *, as_json: bool) -> int:
    from pincite.cli.runner import run
    from pincite.writing.preview import preview

    found = run(settings, lambda _: preview(request))
    shown: dict[str, Any] = found.as_dict()
    if as_json:
        print_json(shown)
        return 0 if found.ok else 1
    say(f"Would ingest into {request.corpus} (nothing was changed)")
    say(f"  documents   {_counts(shown['documents'])}")
    say(f"  chunks      {shown['chunks']['to_write']:,} to write")
    say(f"  to embed    {shown['embeddings']['texts']:,} texts, {found.tokens:,} tokens")
    if found.seconds is not None:
        say(f"  time        about {found.seconds:.0f} s for embedding")
    if found.cost is not None:
        say(f"  cost        about {found.cost:.4f} at the configured price")
    for chunk in shown["previews"]:
        say(f"  {chunk['evidence_key']}  {chunk['tokens']} tokens  {chunk['text'][:70]!r}")
    for entry in shown["failures"]:
        note(f"  would fail {entry['code']} {entry['source']}: {entry['message']}")
    return 0 if found.ok else 1
