"""Calls to an endpoint: one retry layer under one deadline, and clients that belong to a loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from pincite.embedding.retrying import RetryPolicy, Transient, with_retries
from pincite.errors import RerankerTimeout, RerankerUnreachable, RerankingInvalid, ServiceError

Client = TypeVar("Client")

# Short waits: all attempts together have about a second.
POLICY = RetryPolicy(attempts=3, first_wait_s=0.05, longest_wait_s=0.4)
TIMED_OUT = "timeout"
# An endpoint may send the passages back; what is longer than that is no ranking.
MAX_ANSWER_BYTES = 16 * 2**20


async def call(
    attempt: Callable[[float], Awaitable[bytes]], policy: RetryPolicy, timeout_s: float
) -> bytes:
    """The first answer that an attempt brings before the deadline.

    Args:
        attempt: One request; it is given the seconds left, and raises ``Transient`` where
            another one may help.
        policy: Attempts and waits; no wait is begun that would miss the deadline.
        timeout_s: Deadline of everything together.

    Raises:
        RerankerTimeout: The last attempt was still waiting when the time was up.
        RerankerUnreachable: The last attempt failed, and no other fits into attempts and time.
    """

    async def fenced(left: float | None) -> bytes:
        limit = timeout_s if left is None else left
        try:
            # A client's own timeout starts anew with each part of an answer.
            async with asyncio.timeout(limit):
                return await attempt(limit)
        except TimeoutError as exc:
            raise Transient(TIMED_OUT) from exc

    try:
        return await with_retries(fenced, policy, timeout_s)
    except Transient as exc:
        raise _given_up(exc) from exc


def _given_up(failure: Transient) -> ServiceError:
    if failure.reason == TIMED_OUT:
        return RerankerTimeout("The reranker did not answer in time.")
    return RerankerUnreachable(
        f"The reranker cannot be reached ({failure.reason}).", reason=failure.reason
    )


def parsed(body: bytes | str) -> Any:
    """The JSON value that an answer holds.

    Raises:
        RerankingInvalid: It is no JSON, or longer than ``MAX_ANSWER_BYTES``.
    """
    if len(body) > MAX_ANSWER_BYTES:
        raise too_long()
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as exc:
        raise RerankingInvalid("The reranker answers with something that is no JSON.") from exc


def too_long() -> RerankingInvalid:
    """The error of an answer that is too long to be a ranking."""
    return RerankingInvalid(f"The reranker's answer is over {MAX_ANSWER_BYTES} bytes long.")


class PerLoop(Generic[Client]):
    """A client for each event loop: connections belong to the loop that opened them."""

    def __init__(
        self, make: Callable[[], Client], close: Callable[[Client], Awaitable[None]]
    ) -> None:
        self._make = make
        self._close = close
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = WeakKeyDictionary()

    def get(self) -> Client:
        """The client of the running loop, made when it is first asked for."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._make()
        return self._clients[loop]

    async def close(self) -> None:
        """Close the client of the running loop, if there is one."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await self._close(client)
