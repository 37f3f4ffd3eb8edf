"""Faults that are put into an adapter's method: it raises, hangs or answers something else.

    broken = put(catalog, "l0.match", raising(CatalogUnreachable("Gone.")))

``broken`` is the catalogue but for that one method. Everything behind the port stays real.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

HANG_S = 20.0

Method = Callable[..., Any]
When = Callable[..., bool]


class Instead:
    """An object with some attributes of its own in place of those of the one behind it."""

    def __init__(self, behind: Any, **attributes: Any) -> None:
        self._behind = behind
        vars(self).update(attributes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)


@dataclass(frozen=True)
class Fault:
    """What a method does: at most one of the three.

    ``error`` is raised before the method runs. ``hangs``: it does not come back for
    ``HANG_S`` seconds, or until ``release`` where it blocks a thread. ``change`` turns its
    answer into another one. ``reached`` is set once the method was called.
    """

    error: BaseException | None = None
    hangs: bool = False
    change: Callable[[Any], Any] | None = None
    released: threading.Event = field(default_factory=threading.Event)
    reached: threading.Event = field(default_factory=threading.Event)

    def on(self, method: Method, when: When = lambda *_, **__: True) -> Method:
        """The method with the fault, for calls whose arguments satisfy ``when``.

        A coroutine function stays one.
        """
        if inspect.iscoroutinefunction(method):
            return self._awaited(method, when)

        @wraps(method)
        def call(*given: Any, **named: Any) -> Any:
            if not when(*given, **named):
                return method(*given, **named)
            self._begin()
            if self.hangs:
                self.released.wait(HANG_S)
            return self._changed(method(*given, **named))

        return call

    def release(self) -> None:
        """Let threads go that hang."""
        self.released.set()

    def _awaited(self, method: Method, when: When) -> Method:
        @wraps(method)
        async def call(*given: Any, **named: Any) -> Any:
            if not when(*given, **named):
                return await method(*given, **named)
            self._begin()
            if self.hangs:
                await asyncio.sleep(HANG_S)
            return self._changed(await method(*given, **named))

        return call

    def _begin(self) -> None:
        self.reached.set()
        if self.error is not None:
            raise self.error

    def _changed(self, answer: Any) -> Any:
        return answer if self.change is None else self.change(answer)


def raising(error: BaseException) -> Fault:
    """The method raises this."""
    return Fault(error=error)


def hanging() -> Fault:
    """The method does not come back in any useful time."""
    return Fault(hangs=True)


def answering(answer: Any) -> Fault:
    """The method gives this, whatever it found."""
    return Fault(change=lambda _: answer)


def changing(change: Callable[[Any], Any]) -> Fault:
    """The method gives what ``change`` makes of its answer."""
    return Fault(change=change)


def put(target: Any, path: str, fault: Fault, when: When = lambda *_, **__: True) -> Any:
    """The target with the fault in the method at the end of the dotted path."""
    name, _, rest = path.partition(".")
    part = getattr(target, name)
    inner = put(part, rest, fault, when) if rest else fault.on(part, when)
    return Instead(target, **{name: inner})
