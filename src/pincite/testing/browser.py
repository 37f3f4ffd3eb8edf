"""A real headless Chromium for tests, in a thread of its own.

Playwright keeps an event loop running in its thread; tests call ``asyncio.run`` in theirs.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pincite.errors import StackFailed

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Playwright

EXECUTABLE = "PINCITE_TEST_CHROMIUM"
VISIT_TIMEOUT_S = 120.0
ACTION_TIMEOUT_MS = 20_000
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Whatever a page asks for elsewhere is not even looked up.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)

T = TypeVar("T")
Scenario = Callable[["Page"], Awaitable[T]]


def chromium_path() -> str | None:
    """The program: what the environment names, else the system's; ``None`` where none is."""
    return os.environ.get(EXECUTABLE) or shutil.which("chromium")


def unavailable_reason() -> str | None:
    """Why there is no browser here, ``None`` when there is one."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed (extra 'dev')"
    path = chromium_path()
    if path is None:
        return f"no chromium is installed, and {EXECUTABLE} names none"
    return None if os.access(path, os.X_OK) else f"{path!r} of {EXECUTABLE} is no program"


class Chromium:
    """Opens pages, each in a profile of its own; ``requests`` are all addresses of the last one."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="browser", daemon=True)
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    def start(self) -> None:
        """Start the browser.

        Raises:
            playwright.async_api.Error: It does not start.
        """
        self._thread.start()
        self._wait(self._start())

    def stop(self) -> None:
        """End the browser and its thread."""
        self._wait(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(VISIT_TIMEOUT_S)
        self._loop.close()

    def visit(self, scenario: Scenario[T], **options: Any) -> T:
        """What the scenario returns that is given a new page.

        Args:
            scenario: Drives the page; what it raises is raised here.
            options: Those of a browser context: ``viewport``, ``color_scheme``,
                ``java_script_enabled``, ``http_credentials`` and so on.
        """
        return self._wait(self._visit(scenario, options))

    async def _start(self) -> None:
        from playwright.async_api import async_playwright

        self._playwright = await async_playwright().start()
        self._browser = await self._playwright.chromium.launch(
            executable_path=chromium_path(), args=list(_FLAGS)
        )

    async def _stop(self) -> None:
        if self._browser is not None:
            await self._browser.close()
        if self._playwright is not None:
            await self._playwright.stop()

    async def _visit(self, scenario: Scenario[T], options: dict[str, Any]) -> T:
        assert self._browser is not None
        self.requests = []
        context = await self._browser.new_context(**options)
        context.set_default_timeout(ACTION_TIMEOUT_MS)
        context.on("request", lambda request: self.requests.append(request.url))
        try:
            return await scenario(await context.new_page())
        finally:
            await context.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(VISIT_TIMEOUT_S)


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Start the browser; end it after.

    Raises:
        StackFailed: There is none here.
    """
    reason = unavailable_reason()
    if reason:
        raise StackFailed(f"No browser for tests: {reason}.", "Install Debian's chromium.")
    browser = Chromium()
    browser.start()
    try:
        yield browser
    finally:
        browser.stop()
