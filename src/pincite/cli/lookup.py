"""``pincite lookup``."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pincite.cli.output import counted, note, print_json, say

if TYPE_CHECKING:
    from pincite.retrieval.result import LookupResult
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
    from pincite.settings import load_settings

    settings = load_settings()
    overrides = {
        "corpus": _one_corpus(settings, corpus),
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
    if flow:
        _refuse_flow()
    result = run_lookup(settings, query, **overrides)
    if json:
        print_json(result.as_dict())
    else:
        print_result(result, explain=explain)
    return 0


def _one_corpus(settings: Settings, given: str | None) -> str:
    from pincite.errors import RequestInvalid

    names = [n.strip() for n in given.split(",")] if given else list(settings.lookup.corpora)
    if len(names) != 1:
        raise RequestInvalid(
            "This version asks one corpus at a time.", "Name one corpus with --corpus."
        )
    return names[0]


def _refuse_flow() -> None:
    from pincite.errors import RequestInvalid

    raise RequestInvalid("This version has no retrieve flow.", "Leave --flow out.")


def run_lookup(settings: Settings, query: str, **overrides: Any) -> LookupResult:
    """Ask one corpus; opening the store is not on the lookup's clock."""
    from pincite.cli.runner import run
    from pincite.retrieval.pipeline import LookupParts
    from pincite.retrieval.pipeline import lookup as search
    from pincite.retrieval.request import request_from_settings
    from pincite.retrieval.warm import warm_up

    request = request_from_settings(settings, query, **overrides)

    async def ask(workspace: Workspace) -> LookupResult:
        parts = LookupParts(workspace.catalog, workspace.store, workspace.embedder_for)
        await warm_up(request.corpus, parts)
        return await search(request, parts)

    return run(settings, ask)


def print_result(result: LookupResult, *, explain: bool) -> None:
    """The evidence for a person."""
    shown = result.as_dict()
    blocks = counted(len(shown["results"]), "block")
    say(f"{shown['evidenceStatus']}  {blocks}  trace {shown['traceId']}")
    for rank, block in enumerate(shown["results"], start=1):
        score = "" if block["score"] is None else f"  {block['score']:.3f}"
        say(f"\n{rank}. {block['document_id']}{score}")
        heading = f" · {block['title']}" if block["title"] else ""
        say(f"   {block['source']}{heading}")
        say(excerpt(block["excerpt"]))
    for one in shown["retrievalTrace"]["degradations"]:
        note(f"degraded: {one['stage']} {one['code']}: {one['message']}")
    if explain:
        _explain(shown)


def excerpt(text: str, lines: int = 6) -> str:
    """The beginning of a passage, wrapped, behind a bar."""
    wrapped = [part for line in text.splitlines() for part in (textwrap.wrap(line, 92) or [""])]
    shown = wrapped[:lines] + (["…"] if len(wrapped) > lines else [])
    return "\n".join(f"   │ {line}".rstrip() for line in shown)


def _explain(shown: dict[str, Any]) -> None:
    trace = shown["retrievalTrace"]
    say(f"\nattempt {trace['selectedAttempt']}  fallback {trace['fallbackReason'] or 'none'}")
    for one in trace["attempts"]:
        say(
            f"  {one['name']}  {one['mode']}  {one['hitCount']} hits  top {one['topScore']}"
            f"  {one['latencyMs']} ms  {one['outcome']}  filter {one['filter'] or 'none'}"
        )
    for one in trace["stages"]:
        say(f"  {one['name']:<12} {one['in']:>4} → {one['out']:<4} {one['latencyMs']} ms")
    for one in trace["dropped"]:
        say(f"  dropped {one['evidenceKey']}  {one['reason']}  {one['score']}")
