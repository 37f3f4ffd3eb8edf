"""Milvus as vector store: Milvus Lite in a folder, a server, or a hosted one."""

from __future__ import annotations

from pincite.store.milvus_collections import MilvusCollections
from pincite.store.milvus_connection import MilvusConnection
from pincite.store.milvus_search import MilvusSearch
from pincite.store.port import Capabilities

DEFAULT_TIMEOUT_S = 30.0


class MilvusStore(MilvusSearch, MilvusCollections):
    """``VectorStore`` and ``GenerationStore`` on one Milvus.

    Nothing is opened before the first call. It may be used from several event loops; each gets
    a client of its own, and ``close`` closes that of the running loop. Milvus Lite's engine
    stays open for this process, and locks the folder for others, until the process ends.

    Args:
        uri: A folder (Milvus Lite) or an http, https, tcp or unix address.
        token: ``user:password`` or an API key, ``""`` for none.
        database: Database of the server, ``""`` for the default one.
        timeout_s: Limit of every call that does not bring its own, in seconds.
        search_consistency: What a search sees: ``Bounded`` may miss the last writes and is up
            to a hundred times faster on a server than ``Strong``.
    """

    def __init__(
        self,
        uri: str,
        token: str = "",
        database: str = "",
        timeout_s: float = DEFAULT_TIMEOUT_S,
        search_consistency: str = "Bounded",
    ) -> None:
        self._connection = MilvusConnection(uri, token, database, timeout_s)
        self._search_consistency = search_consistency
        self._layouts = {}
        self._counts = {}

    @property
    def capabilities(self) -> Capabilities:
        """What the store can do; for an address, that of the oldest server until a first call."""
        return self._connection.capabilities

    async def close(self) -> None:
        """Close the clients; a later call opens them again."""
        await self._connection.close()
