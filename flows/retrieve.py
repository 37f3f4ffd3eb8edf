"""Retrieve: one lookup, each step and each attempt of it seen."""

# Annotations stay values here: Prefect pickles flows, and text would lose its names.
from typing import Annotated, Any, Literal

from prefect import flow
from prefect.runtime import flow_run
from pydantic import Field

from pincite.retrieval.pipeline import lookup
from pincite.retrieval.request import request_from_settings
from pincite.retrieval.steps import LookupSteps
from pincite.tasks import retrieve as tasks
from pincite.wiring import open_workspace

STEPS = LookupSteps(
    pin=tasks.pin,
    hint=tasks.hint,
    embed=tasks.embed,
    search=tasks.search,
    current=tasks.current,
    threshold=tasks.threshold,
    rerank=tasks.rerank,
    adjust=tasks.adjust,
    order=tasks.order,
    merge=tasks.merge,
    cap=tasks.cap,
    cut=tasks.cut,
    pack=tasks.pack,
    record=tasks.record,
    legacy=tasks.legacy,
    note_shadow=tasks.note_shadow,
    path=tasks.path,
    has_legacy=tasks.has_legacy,
    start=tasks.start,
    now=tasks.now,
    observer=tasks.observer,
)


def _run_name() -> str:
    given = flow_run.parameters
    return f"retrieve {given['corpus'] or 'the usual corpora'}"


@flow(name="retrieve", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
async def retrieve(
    query: Annotated[str, Field(min_length=1, description="the question; Prefect keeps it")],
    corpus: Annotated[str | None, Field(description="corpora, between commas")] = None,
    kb_scope: Annotated[str | None, Field(description="the only scope to look in")] = None,
    category: Annotated[str, Field(description="category to try first")] = "",
    retrieve_k: Annotated[int | None, Field(ge=1, description="recall width of a leg")] = None,
    return_n: Annotated[int | None, Field(ge=1, description="blocks returned")] = None,
    mode: Annotated[
        Literal["dense", "lexical", "hybrid"] | None, Field(description="search legs")
    ] = None,
    user_id: Annotated[str | None, Field(description="memory: whose")] = None,
    assistant_id: Annotated[str | None, Field(description="memory: of which assistant")] = None,
    conversation_id: Annotated[str | None, Field(description="memory: of which talk")] = None,
    session_id: Annotated[str | None, Field(description="web: of which session")] = None,
    query_id: Annotated[str | None, Field(description="web: of which search")] = None,
    trace_id: Annotated[str, Field(description="id of this lookup, '' = a new one")] = "",
) -> dict[str, Any]:
    """One lookup with every step as a task; nothing is taken from the cache of answers.

    Returns:
        The LookupResult as its JSON document.
    """
    given = {name: value for name, value in locals().items() if name != "query"}
    async with open_workspace() as workspace:
        request = request_from_settings(workspace.settings, query, **given)
        result = await lookup(request, STEPS)
        await workspace.lookup_parts.background.drain()
    return result.as_dict()
