"""Prefect tasks: each takes conformed tables, calls one engine function, returns tables."""

import os

# Both are off unless the user turns them on; they must be set before Prefect is imported.
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")
