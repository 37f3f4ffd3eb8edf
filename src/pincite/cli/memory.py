"""``pincite memory``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pincite.cli.output import WITH_FAILURES, note, print_json, say

app = typer.Typer(name="memory", help="What agents remember of their users.", no_args_is_help=True)


@app.command("add")
def add(
    text: Annotated[str, typer.Argument(help="What to remember.")],
    user_id: Annotated[str, typer.Option(help="Whose memory it is.")],
    assistant_id: Annotated[str, typer.Option(help="Which assistant remembers.")],
    conversation_id: Annotated[str, typer.Option(help="In which conversation.")],
    id: Annotated[str | None, typer.Option(help="Your id of the item; default: its text.")] = None,
    memory_type: Annotated[
        str, typer.Option(help="constraint, preference, fact or todo_hint.")
    ] = "fact",
    confidence: Annotated[float, typer.Option(help="How sure it is, from 0 to 1.")] = 1.0,
    sensitivity_level: Annotated[int, typer.Option(help="The higher the more sensitive.")] = 0,
    ttl_at: Annotated[
        str | None, typer.Option(help="When it is gone: ISO 8601 with a zone.")
    ] = None,
    source_event_id: Annotated[str, typer.Option(help="The event it was learned from.")] = "",
    created_at: Annotated[
        str | None, typer.Option(help="When it was learned; default: now.")
    ] = None,
    kb_scope: Annotated[str | None, typer.Option(help="Isolation label.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the receipt as JSON.")] = False,
) -> int:
    """Remember something; it can be looked up when this returns."""
    given = {
        "id": id,
        "user_id": user_id,
        "assistant_id": assistant_id,
        "conversation_id": conversation_id,
        "text": text,
        "memory_type": memory_type,
        "confidence": confidence,
        "sensitivity_level": sensitivity_level,
        "ttl_at": ttl_at,
        "source_event_id": source_event_id,
        "created_at": created_at,
    }
    return _write(
        {name: value for name, value in given.items() if value is not None}, kb_scope, json
    )


def _write(item: dict[str, Any], kb_scope: str | None, as_json: bool) -> int:
    from pincite.cli.runner import run
    from pincite.scopes import pick_kb_scope
    from pincite.settings import load_settings
    from pincite.writing.online import write_items

    scope = pick_kb_scope("", kb_scope)
    receipt = run(load_settings(), lambda _: write_items("memory", [item], scope))
    if as_json:
        print_json(receipt.as_dict())
    else:
        (outcome,) = receipt.items
        say(f"{outcome.doc_id}  {outcome.state}" + (f"  {outcome.code}" if outcome.code else ""))
        for one in receipt.degradations:
            note(f"  {one['code']}: {one['message']}")
    return WITH_FAILURES if receipt.items[0].state == "FAILED" else 0
