"""Which Prefect API the pipeline commands use."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from pincite.cli.output import note
from pincite.errors import OrchestratorUnreachable
from pincite.prefect_environment import API_URL, QUIET, database_environment
from pincite.settings import Settings
from pincite.stack import running_stack

HEALTH_TIMEOUT_S = 5.0


def use_prefect(settings: Settings, without: str) -> None:
    """``prepare_prefect``, and a word to the person who will wait for a temporary server.

    Args:
        settings: Those in force.
        without: How the command runs without Prefect.
    """
    if prepare_prefect(settings) is None:
        note(
            "No Prefect server is running: a temporary one is started for this run (some seconds)."
            f" `pincite up` keeps one, {without}."
        )


def prepare_prefect(settings: Settings) -> str | None:
    """Point Prefect at the API to use; ``None``: it will start a temporary server.

    The user's environment or active profile comes first, then the home's own stack.

    Raises:
        OrchestratorUnreachable: An API is configured and does not answer.
    """
    stack = running_stack(settings.home)
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    if stack is not None:
        os.environ.setdefault(API_URL, stack.prefect_api_url)
    from prefect.settings import PREFECT_API_URL

    url: str | None = PREFECT_API_URL.value()
    if url:
        _require_healthy(url)
        return url
    for name, value in database_environment(settings.home).items():
        os.environ.setdefault(name, value)
    return None


def _require_healthy(url: str) -> None:
    import httpx

    try:
        healthy = httpx.get(f"{url}/health", timeout=HEALTH_TIMEOUT_S).is_success
    except httpx.HTTPError:
        healthy = False
    if not healthy:
        raise OrchestratorUnreachable(f"The Prefect API at {_shown(url)!r} does not answer.")


def _shown(url: str) -> str:
    """The address without a name and a password in it."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
