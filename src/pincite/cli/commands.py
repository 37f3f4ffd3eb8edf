"""Which commands there are."""

from __future__ import annotations

import typer

from pincite.cli import (
    cite,
    demo,
    ingest,
    lookup,
    maintain,
    mcp,
    memory,
    remove,
    serve,
    status,
    up,
    verify,
)
from pincite.cli.evaluate import app as evaluate


def register(app: typer.Typer) -> None:
    """Add every command to the application."""
    app.command("demo")(demo.demo)
    app.command("up")(up.up)
    app.command("ingest")(ingest.ingest)
    app.command("remove")(remove.remove)
    app.command("lookup")(lookup.lookup)
    app.command("cite")(cite.cite)
    app.command("verify")(verify.verify)
    app.command("status")(status.status)
    app.command("maintain")(maintain.maintain)
    app.command("mcp")(mcp.mcp)
    app.command("serve")(serve.serve)
    app.add_typer(memory.app)
    app.add_typer(evaluate.app)
