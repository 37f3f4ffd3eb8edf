"""``pincite eval seed``."""

from __future__ import annotations

from typing import Annotated

import typer

from pincite.cli.evaluate.options import Cases, golden_cases
from pincite.cli.output import exit_status, print_json


def seed(
    cases: Cases = None,
    direct: Annotated[bool, typer.Option(help="Run without an orchestrator.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the receipts as JSON.")] = False,
) -> int:
    """Ingest the documents that golden cases are about, into their own scope."""
    from pincite.cli.ingest import print_receipt, run_ingest
    from pincite.errors import CasesInvalid
    from pincite.evaluation.case_files import read_cases
    from pincite.settings import load_settings
    from pincite.writing.request import IngestRequest

    path = cases or golden_cases()
    seeds = read_cases(path).seeds
    if not seeds:
        raise CasesInvalid(
            f"{str(path)!r} names no documents.",
            "Name their folder under `documents`, or ingest them with `pincite ingest`.",
        )
    receipts = []
    for one in seeds:
        request = IngestRequest((str(one.folder),), source=one.source, kb_scope=one.kb_scope)
        receipts.append(run_ingest(load_settings(), request, direct=direct, quiet=json))
        if not json:
            print_receipt(receipts[-1])
    if json:
        print_json([receipt.as_dict() for receipt in receipts])
    errors = [exit_status(one.error) for one in receipts if one.error is not None]
    return max(errors, default=0) or int(not all(one.ok for one in receipts))
