"""Serving agents and people: one service, over HTTP, MCP and in a browser."""
