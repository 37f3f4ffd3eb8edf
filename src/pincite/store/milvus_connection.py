"""Clients of one Milvus: opened lazily, bounded in time, their errors coded, closed together."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from pincite.store.capabilities import LITE, SERVER, capabilities_of
from pincite.store.lite import open_lite
from pincite.store.milvus_errors import mapped, vendor_exceptions
from pincite.store.port import Capabilities

if TYPE_CHECKING:
    from pymilvus import AsyncMilvusClient, MilvusClient

T = TypeVar("T")

SCHEMES = ("http://", "https://", "tcp://", "unix:")
# Creating, loading and flushing build indexes; they may take longer than a read.
ADMIN_TIMEOUT_S = 60.0

# Milvus Lite closes connections that ping it every ten idle seconds, which is pymilvus's default.
# On this machine a dead peer shows at once, so an idle connection need not ping.
_NO_IDLE_PINGS = {"grpc.keepalive_permit_without_calls": 0, "grpc.keepalive_time_ms": 60_000}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NOISY_LOGGERS = ("pymilvus", "milvus_lite")


@dataclass
class _PerLoop:
    """What belongs to one event loop: its client, and the lock under which it is opened."""

    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    client: AsyncMilvusClient | None = None


class MilvusConnection:
    """The asynchronous client of each running loop, and one synchronous client for administration.

    Args:
        uri: A folder (Milvus Lite, this process owns it) or an http, https, tcp or unix address.
        token: ``user:password`` or an API key, ``""`` for none.
        database: Database of the server, ``""`` for the default one.
        timeout_s: Limit of every call, in seconds, that does not bring its own.
    """

    def __init__(self, uri: str, token: str, database: str, timeout_s: float) -> None:
        self.uri = uri
        self.timeout_s = timeout_s
        self.is_local = not uri.startswith(SCHEMES)
        self._where = uri if self.is_local else _without_credentials(uri)
        self.capabilities: Capabilities = LITE if self.is_local else SERVER
        self._options: dict[str, Any] = {
            "token": token,
            "db_name": database,
            "grpc_options": _NO_IDLE_PINGS if self._is_near() else {},
        }
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _PerLoop] = WeakKeyDictionary()
        self._admin: MilvusClient | None = None
        self._admin_opening = threading.Lock()

    async def call(
        self,
        action: str,
        work: Callable[[AsyncMilvusClient, float], Awaitable[T]],
        timeout_s: float | None = None,
    ) -> T:
        """Run ``work(client, seconds left)`` on this loop's client, within the limit.

        Raises:
            StoreUnreachable, StoreLocked, StoreRejected.
        """
        limit = timeout_s if timeout_s is not None else self.timeout_s
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit
        try:
            async with asyncio.timeout_at(deadline):
                client = await self._client(limit)
                return await work(client, max(deadline - loop.time(), 0.001))
        except vendor_exceptions() as exc:
            raise mapped(exc, action, self._where) from exc

    async def administer(
        self, action: str, work: Callable[[MilvusClient, float], T], limit_s: float | None = None
    ) -> T:
        """Run ``work(client, seconds)`` in a thread: Milvus Lite has no asynchronous creation."""

        def run() -> T:
            return work(self._admin_client(), limit_s or self.timeout_s)

        try:
            return await asyncio.to_thread(run)
        except vendor_exceptions() as exc:
            raise mapped(exc, action, self._where) from exc

    async def close(self) -> None:
        """Close this loop's client and the synchronous one; a later call opens them again."""
        here = self._loops.pop(asyncio.get_running_loop(), None)
        admin, self._admin = self._admin, None
        if here is not None and here.client is not None:
            await here.client.close()
        if admin is not None:
            await asyncio.to_thread(admin.close)

    async def _client(self, timeout_s: float) -> AsyncMilvusClient:
        here = self._loops.setdefault(asyncio.get_running_loop(), _PerLoop())
        if here.client is None:
            async with here.opening:
                if here.client is None:
                    here.client = await self._open(timeout_s)
        return here.client

    async def _open(self, timeout_s: float) -> AsyncMilvusClient:
        address = await asyncio.to_thread(self._address)
        from pymilvus import AsyncMilvusClient

        client = AsyncMilvusClient(address, timeout=timeout_s, dedicated=True, **self._options)
        try:
            version = await client.get_server_version(timeout=timeout_s)
        except BaseException:
            await client.close()
            raise
        self.capabilities = capabilities_of(str(version))
        return client

    def _admin_client(self) -> MilvusClient:
        with self._admin_opening:
            if self._admin is None:
                self._admin = self._open_admin()
            return self._admin

    def _open_admin(self) -> MilvusClient:
        address = self._address()
        from pymilvus import MilvusClient

        client = MilvusClient(address, timeout=self.timeout_s, dedicated=True, **self._options)
        try:
            version = client.get_server_version(timeout=self.timeout_s)
        except BaseException:
            client.close()
            raise
        self.capabilities = capabilities_of(str(version))
        return client

    def _is_near(self) -> bool:
        return self.is_local or urlsplit(self.uri).hostname in _LOOPBACK

    def _address(self) -> str:
        _import_quietly()
        return open_lite(self.uri) if self.is_local else self.uri


def remaining(timeout_s: float | None) -> Callable[[], float | None]:
    """How many seconds are left of a limit that several calls share.

    Without a limit there is ``None``, and each call has the store's own.
    """
    if timeout_s is None:
        return lambda: None
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_s
    return lambda: max(deadline - loop.time(), 0.0)


def _without_credentials(uri: str) -> str:
    head, mark, rest = uri.rpartition("@")
    return f"{head.partition('://')[0]}://{rest}" if mark else uri


def _import_quietly() -> None:
    """Import pymilvus and keep its own error lines away: what fails is raised with a code."""
    import pymilvus  # noqa: F401

    for name in _NOISY_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
