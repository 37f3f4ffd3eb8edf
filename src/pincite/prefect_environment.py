"""How Prefect is set up, said through the environment before it is imported."""

from __future__ import annotations

from pathlib import Path

from pincite.errors import ConfigInvalid

API_URL = "PREFECT_API_URL"

QUIET = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "pincite",
    # The run's log goes to the API whole. On a terminal a failure is one coded line, which the
    # command prints itself.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "90",
    "PREFECT_CLI_PROMPT": "false",
}


def own_folder(path: Path) -> Path:
    """The folder, made where it is missing.

    Raises:
        ConfigInvalid: It cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise ConfigInvalid(
            f"The folder {str(path)!r} cannot be made ({type(exc).__name__}).",
            "Give a home that can be written: --home, or PINCITE_HOME.",
        ) from exc
    return path


def server_environment(home: Path, port: int) -> dict[str, str]:
    """What the Prefect server of this home is started with."""
    return {
        **QUIET,
        **database_environment(home),
        "PREFECT_SERVER_UI_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_API_HOST": "127.0.0.1",
    }


def database_environment(home: Path) -> dict[str, str]:
    """One database per home, so that runs of a temporary server are seen by a later one."""
    folder = own_folder(home / "prefect")
    url = f"sqlite+aiosqlite:///{folder / 'prefect.db'}"
    return {"PREFECT_SERVER_DATABASE_CONNECTION_URL": url}
