"""How Prefect is reached, said through its environment before it is imported."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path

from pincite.errors import OrchestratorUnreachable
from pincite.settings import Settings

API_URL = "PREFECT_API_URL"
HEALTH_TIMEOUT_S = 5.0

_QUIET = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "pincite",
    # The run's log goes to the API whole; a terminal sees warnings beside the progress.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "WARNING",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "90",
    "PREFECT_CLI_PROMPT": "false",
}


def server_environment(settings: Settings, port: int) -> dict[str, str]:
    """What a Prefect server of this home is started with."""
    return {
        **_QUIET,
        **_database(settings.home),
        "PREFECT_SERVER_UI_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_API_HOST": "127.0.0.1",
    }


def _database(home: Path) -> dict[str, str]:
    """One database per home, so that runs of a temporary server are seen by `pincite up` later."""
    folder = home / "prefect"
    folder.mkdir(parents=True, exist_ok=True)
    url = f"sqlite+aiosqlite:///{folder / 'prefect.db'}"
    return {"PREFECT_SERVER_DATABASE_CONNECTION_URL": url}


def prepare_client(
    settings: Settings,
    stack_api_url: str | None,
    environment: MutableMapping[str, str] = os.environ,
) -> str | None:
    """Point Prefect at the API to use; ``None``: it will start a temporary server.

    The environment or the active profile of the user comes first, then the home's own stack.

    Raises:
        OrchestratorUnreachable: An API is configured and does not answer.
    """
    for name, value in _QUIET.items():
        environment.setdefault(name, value)
    if API_URL not in environment and stack_api_url:
        environment[API_URL] = stack_api_url
    from prefect.settings import PREFECT_API_URL

    url: str | None = PREFECT_API_URL.value()
    if url:
        _require_healthy(url)
        return url
    for name, value in _database(settings.home).items():
        environment.setdefault(name, value)
    return None


def _require_healthy(url: str) -> None:
    import httpx

    try:
        healthy = httpx.get(f"{url}/health", timeout=HEALTH_TIMEOUT_S).is_success
    except httpx.HTTPError:
        healthy = False
    if not healthy:
        raise OrchestratorUnreachable(f"The Prefect API at {url!r} does not answer.")


def flow_run_page(ui_url: str, flow_run_id: str) -> str:
    """Where the run is seen in the Prefect UI."""
    return f"{ui_url}/runs/flow-run/{flow_run_id}"
