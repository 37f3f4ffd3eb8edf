"""``pincite up``."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from pincite.cli.output import note, say

LOOK_EVERY_S = 1.0


def up() -> int:
    """Run the local stack: Prefect server with its UI, and the Milvus Lite server."""
    from pincite.settings import load_settings
    from pincite.stack import serve_stack

    stop = threading.Event()

    def ask_to_stop(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    for wanted in (signal.SIGINT, signal.SIGTERM):
        signal.signal(wanted, ask_to_stop)
    settings = load_settings()
    note("starting …")
    with serve_stack(settings, say) as serving:
        say(f"Prefect UI          {serving.stack.prefect_ui_url}")
        say(f"logs                {settings.home / 'logs'}")
        say("Other commands use these servers by themselves. Ctrl-C stops all of it.")
        while not stop.wait(LOOK_EVERY_S):
            serving.require_alive()
        note("stopping …")
    return 0
