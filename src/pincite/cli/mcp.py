"""``pincite mcp``."""

from __future__ import annotations


def mcp() -> int:
    """Serve an agent over MCP on stdin and stdout."""
    from pincite.serving.mcp_stdio import serve_stdio
    from pincite.settings import load_settings

    serve_stdio(load_settings())
    return 0
