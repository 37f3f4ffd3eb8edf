"""``pincite serve``."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from pincite.cli.output import note


def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; others than loopback need a token.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 = a free one.")] = None,
) -> int:
    """Serve lookups, citations and writes over HTTP and MCP, with an inspector page."""
    from pincite.cli.runner import run
    from pincite.serving.server import listening_socket
    from pincite.serving.server import serve as serve_http
    from pincite.settings import load_settings

    settings = load_settings({"serve.host": host, "serve.port": port})
    _log_requests()
    with listening_socket(settings.serve) as listener:
        note("starting …")
        run(settings, lambda workspace: serve_http(workspace, listener, _say_where))
    note("stopped")
    return 0


def _log_requests() -> None:
    """One line for each request, whatever else is kept quiet."""
    log = logging.getLogger("pincite.serve")
    if not log.isEnabledFor(logging.INFO):
        log.setLevel(logging.INFO)


def _say_where(url: str) -> None:
    note(f"HTTP API   {url}/v1/lookup")
    note(f"MCP        {url}/mcp")
    note(f"inspector  {url}/")
    note("Ctrl-C stops; lookups in flight are finished first.")
