"""Asks the questions of golden cases through the real lookup."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pincite.catalog.activity import LookupLine
from pincite.catalog.catalog import Catalog
from pincite.errors import CasesInvalid, UsageError
from pincite.evaluation.cases import EDIT_ME, GoldenCase
from pincite.retrieval.parts import LookupParts
from pincite.retrieval.pipeline import lookup
from pincite.retrieval.request import LookupRequest, request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.retrieval.steps import LookupSteps, direct_steps
from pincite.retrieval.warm import warm_up
from pincite.settings import Settings
from pincite.wiring import Workspace

# A busy machine must not change a verdict: what is slow is for ``maxLatencyMs`` to say.
PATIENT_MS = 60_000


def case_request(settings: Settings, case: GoldenCase, **overrides: Any) -> LookupRequest:
    """The lookup that a case asks for; an override wins over the case.

    Raises:
        CasesInvalid: No lookup can be asked like that; see ``LookupRequest``.
    """
    patient = {"timeout_ms": PATIENT_MS, "rerank_timeout_ms": PATIENT_MS}
    options = {**case.lookup_options(), **patient, **overrides}
    try:
        return request_from_settings(settings, case.query, trace_id=f"eval-{case.id}", **options)
    except UsageError as exc:
        raise CasesInvalid(f"Case {case.id!r}: {exc.message}", exc.next_step) from exc


def evaluation_steps(parts: LookupParts) -> LookupSteps:
    """The steps of a lookup, but for its line in the log: figures are of what users ask."""
    return replace(direct_steps(parts), record=_unrecorded)


async def ask(request: LookupRequest, parts: LookupParts) -> LookupResult:
    """One lookup that is really searched, whatever answers are kept, and leaves no trace."""
    return await lookup(request, evaluation_steps(parts))


async def ask_all(
    cases: Sequence[GoldenCase], workspace: Workspace, **overrides: Any
) -> list[dict[str, Any]]:
    """The LookupResults of all cases as JSON documents, in their order, one after another."""
    requests = [case_request(workspace.settings, case, **overrides) for case in cases]
    await prepare(cases, requests, workspace)
    return [(await ask(one, workspace.lookup_parts)).as_dict() for one in requests]


async def prepare(
    cases: Sequence[GoldenCase], requests: Sequence[LookupRequest], workspace: Workspace
) -> None:
    """Check that what the cases name is there, and pay for the first contact.

    Raises:
        CasesInvalid: A case names a source that its corpus does not hold.
    """
    parts = workspace.lookup_parts
    if not parts.foreign:
        await asyncio.to_thread(require_known, cases, parts.catalog)
    for corpus in sorted({request.corpus for request in requests}):
        first = next(request for request in requests if request.corpus == corpus)
        await warm_up(first, parts)


def require_known(cases: Sequence[GoldenCase], catalog: Catalog) -> None:
    """Check that each source and document that a case names is in its corpora.

    Raises:
        CasesInvalid: One is not; without this, a name spelled wrong looks like a bad search.
    """
    for corpora in sorted({case.corpus for case in cases}):
        of_corpora = [case for case in cases if case.corpus == corpora]
        sources = {source for case in of_corpora for source in case.named_sources}
        doc_ids = {doc_id for case in of_corpora for doc_id in case.named_documents}
        known = set[str]()
        for corpus in corpora.split(","):
            known |= catalog.documents.known_sources(corpus, sorted(sources))
            known |= catalog.documents.known_ids(corpus, sorted(doc_ids))
        for case in of_corpora:
            for name in (*case.named_sources, *case.named_documents):
                if name not in known:
                    raise _unknown(case, name)


def _unknown(case: GoldenCase, name: str) -> CasesInvalid:
    advice = "Ingest it (`pincite eval seed` for seed documents), or correct the case."
    if name == EDIT_ME:
        advice = "Put the source that answers the question in its place."
    return CasesInvalid(
        f"Case {case.id!r} names {name!r}, which corpus {case.corpus!r} does not hold.", advice
    )


async def _unrecorded(line: LookupLine) -> None:
    """Keep nothing."""
