"""One retry layer for calls over HTTP: bounded attempts, ``Retry-After``, a deadline."""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

T = TypeVar("T")
log = logging.getLogger(__name__)


class Transient(Exception):
    """The attempt failed in a way that may pass; ``retry_after_s`` is what the server asked."""

    def __init__(self, reason: str, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after_s = retry_after_s


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long to wait, in seconds.

    Waits double from ``first_wait_s`` up to ``longest_wait_s``, each shortened by up to a half at
    random. What the server asks for is followed up to ``longest_asked_s``.
    """

    attempts: int = 5
    first_wait_s: float = 0.5
    longest_wait_s: float = 10.0
    longest_asked_s: float = 60.0

    def wait_s(self, attempt: int, asked_s: float | None) -> float:
        """Seconds to wait after attempt number ``attempt`` (from 1) failed."""
        if asked_s is not None:
            # Clients that were told the same time should not all come back in one instant.
            return min(asked_s, self.longest_asked_s) * random.uniform(1.0, 1.1)
        doubled = self.first_wait_s * 2.0 ** min(attempt - 1, 30)
        return min(doubled, self.longest_wait_s) * random.uniform(0.5, 1.0)


async def with_retries(
    call: Callable[[float | None], Awaitable[T]],
    policy: RetryPolicy,
    timeout_s: float | None = None,
) -> T:
    """The first result of ``call`` that is not ``Transient``.

    Args:
        call: One attempt; it is given the seconds left until the deadline.
        policy: Attempts and waits.
        timeout_s: Deadline of everything together; no wait is begun that would miss it.

    Raises:
        Transient: The last failure, when attempts or time ran out.
    """
    deadline = _Deadline(timeout_s)
    retrying = AsyncRetrying(
        retry=retry_if_exception_type(Transient),
        wait=lambda state: policy.wait_s(state.attempt_number, _asked(state)),
        stop=lambda state: stop_after_attempt(policy.attempts)(state) or deadline.misses(state),
        before_sleep=_log,
        reraise=True,
    )

    async def attempt() -> T:
        return await call(deadline.left())

    result: T = await retrying(attempt)
    return result


class _Deadline:
    def __init__(self, timeout_s: float | None) -> None:
        self._end = math.inf if timeout_s is None else time.monotonic() + timeout_s

    def left(self) -> float | None:
        return None if math.isinf(self._end) else max(0.0, self._end - time.monotonic())

    def misses(self, state: RetryCallState) -> bool:
        return time.monotonic() + state.upcoming_sleep >= self._end


def _log(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    log.warning(
        "request failed, trying again",
        extra={
            "reason": error.reason if isinstance(error, Transient) else "",
            "attempt": state.attempt_number,
            "wait_ms": round(state.upcoming_sleep * 1000),
        },
    )


def _asked(state: RetryCallState) -> float | None:
    error = state.outcome.exception() if state.outcome else None
    return error.retry_after_s if isinstance(error, Transient) else None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks to wait: ``retry-after-ms``, or ``Retry-After`` in either form.

    ``Retry-After`` is a number of seconds or an HTTP date (RFC 9110, 10.2.3). A time in the past,
    and anything unreadable, reads as not asked.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    return seconds if seconds is not None else _until(value)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value else -1.0
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _until(value: str | None) -> float | None:
    try:
        seconds = parsedate_to_datetime(value).timestamp() - time.time() if value else -1.0
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if seconds > 0 else None
