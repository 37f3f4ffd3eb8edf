"""``pincite lookup``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pincite.cli.output import print_json

if TYPE_CHECKING:
    from pincite.settings import Settings
    from pincite.wiring import Workspace


def lookup(
    query: Annotated[str, typer.Argument(help="The question.")],
    corpus: Annotated[str | None, typer.Option(help="Corpora to ask, between commas.")] = None,
    kb_scope: Annotated[str | None, typer.Option(help="The only scope to look in.")] = None,
    category: Annotated[str, typer.Option(help="Category to try first.")] = "",
    retrieve_k: Annotated[int | None, typer.Option(help="Recall width of each leg.")] = None,
    return_n: Annotated[int | None, typer.Option(help="Evidence blocks returned.")] = None,
    mode: Annotated[str | None, typer.Option(help="dense, lexical or hybrid.")] = None,
    user_id: Annotated[str | None, typer.Option(help="Memory: whose.")] = None,
    assistant_id: Annotated[str | None, typer.Option(help="Memory: of which assistant.")] = None,
    conversation_id: Annotated[str | None, typer.Option(help="Memory: of which talk.")] = None,
    session_id: Annotated[str | None, typer.Option(help="Web: of which session.")] = None,
    query_id: Annotated[str | None, typer.Option(help="Web: of which search.")] = None,
    explain: Annotated[bool, typer.Option(help="Show how the evidence was found.")] = False,
    flow: Annotated[bool, typer.Option(help="Run as a Prefect flow.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the LookupResult as JSON.")] = False,
) -> int:
    """Find evidence for a question."""
    from pincite.cli.result import print_result
    from pincite.settings import load_settings

    settings = load_settings()
    overrides = {
        "corpus": corpus,
        "kb_scope": kb_scope,
        "category": category,
        "retrieve_k": retrieve_k,
        "return_n": return_n,
        "mode": mode,
        "user_id": user_id,
        "assistant_id": assistant_id,
        "conversation_id": conversation_id,
        "session_id": session_id,
        "query_id": query_id,
    }
    ask = _as_flow if flow else run_lookup
    found = ask(settings, query, **overrides)
    if json:
        print_json(found)
    else:
        print_result(found, explain=explain)
    return 0


def run_lookup(settings: Settings, query: str, **overrides: Any) -> dict[str, Any]:
    """The LookupResult as its JSON document; opening the store is not on the lookup's clock."""
    from pincite.cli.runner import run
    from pincite.retrieval.pipeline import lookup_direct
    from pincite.retrieval.request import request_from_settings
    from pincite.retrieval.warm import warm_up

    request = request_from_settings(settings, query, **overrides)

    async def ask(workspace: Workspace) -> dict[str, Any]:
        await warm_up(request, workspace.lookup_parts)
        return (await lookup_direct(request, workspace.lookup_parts)).as_dict()

    return run(settings, ask)


def _as_flow(settings: Settings, query: str, **overrides: Any) -> dict[str, Any]:
    from pincite.cli.orchestrator import use_prefect
    from pincite.cli.runner import run
    from pincite.retrieval.request import request_from_settings
    from pincite.retrieval.warm import warm_up

    request = request_from_settings(settings, query, **overrides)

    async def ask(workspace: Workspace) -> dict[str, Any]:
        from pincite.flows.retrieve import retrieve

        await warm_up(request, workspace.lookup_parts)
        found: dict[str, Any] = await retrieve(query, **overrides)
        return found

    use_prefect(settings, "a lookup without --flow needs none")
    return run(settings, ask)
