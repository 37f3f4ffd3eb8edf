"""``pincite cite``."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from pincite.cli.output import print_json, say


def cite(
    evidence_key: Annotated[str, typer.Argument(help="The key of a passage.")],
    corpus: Annotated[str | None, typer.Option(help="The corpus to look in.")] = None,
    sha256: Annotated[
        str | None, typer.Option(help="Digest of the text that was given, to be exact.")
    ] = None,
    kb_scope: Annotated[str | None, typer.Option(help="The only scope to look in.")] = None,
    user_id: Annotated[str | None, typer.Option(help="Memory: whose.")] = None,
    assistant_id: Annotated[str | None, typer.Option(help="Memory: of which assistant.")] = None,
    conversation_id: Annotated[str | None, typer.Option(help="Memory: of which talk.")] = None,
    session_id: Annotated[str | None, typer.Option(help="Web: of which session.")] = None,
    query_id: Annotated[str | None, typer.Option(help="Web: of which search.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the citation as JSON.")] = False,
) -> int:
    """Resolve an evidence key to its exact text."""
    from pincite.cli.runner import run
    from pincite.retrieval.citation import cite as resolve
    from pincite.scopes import pick_kb_scope
    from pincite.settings import load_settings

    settings = load_settings()
    retrieval = settings.retrieval
    found = run(
        settings,
        lambda w: asyncio.to_thread(
            resolve,
            evidence_key,
            w.catalog,
            w.texts,
            corpus=corpus,
            sha256=sha256,
            kb_scope=pick_kb_scope(retrieval.kb_scope, kb_scope),
            scope_ids={
                "user_id": user_id,
                "assistant_id": assistant_id,
                "conversation_id": conversation_id,
                "session_id": session_id,
                "query_id": query_id,
            },
            exclude_scopes=retrieval.exclude_scopes,
        ),
    )
    if json:
        print_json(found.as_dict())
        return 0
    say(f"{found.evidence_key}  {found.state}  source {found.source_state}")
    where = f"{found.source}  characters {found.char_start}-{found.char_end}"
    say(f"{where}  {found.heading}" if found.heading else where)
    say(f"sha256 {found.content_sha256}\n")
    say(found.text)
    if found.current is not None and found.state != "current":
        say(f"\nNow the key names (sha256 {found.current.content_sha256}):\n\n{found.current.text}")
    return 0
