"""Which store an address means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pincite.errors import ConfigInvalid
from pincite.store.port import GenerationStore, VectorStore

if TYPE_CHECKING:
    from pincite.store.memory import MemoryStore

MEMORY_SCHEME = "memory://"
_WITHOUT_TEXT = "full_text=false"
SERVER_SCHEMES = ("http", "https", "tcp", "unix")

_in_memory: dict[str, MemoryStore] = {}


class Store(VectorStore, GenerationStore, Protocol):
    """Rows and collections of one store."""


@dataclass(frozen=True)
class StoreConfig:
    """Where the store is; ``uri`` is a folder, a server's address or ``memory://<name>``."""

    uri: str
    token: str = ""
    database: str = ""
    timeout_s: float = 30.0


def make_store(config: StoreConfig) -> Store:
    """The store that the address means; nothing is opened before its first call.

    ``memory://<name>`` is one store per name in this process; ``memory://<name>?full_text=false``
    another one, without full text, as on an old server.

    Raises:
        ConfigInvalid: The address is empty, of an unknown scheme or has an unknown option.
    """
    uri = config.uri.strip()
    if uri.startswith(MEMORY_SCHEME):
        return _memory_store(uri.removeprefix(MEMORY_SCHEME))
    scheme, mark, _ = uri.partition("://")
    if not uri or (mark and scheme.lower() not in SERVER_SCHEMES):
        raise ConfigInvalid(
            f"[store] uri is {config.uri!r}.",
            "Give a folder for Milvus Lite, or an http, https, tcp or unix address of a server.",
        )
    from pincite.store.milvus import MilvusStore

    return MilvusStore(uri, config.token, config.database, config.timeout_s)


def _memory_store(address: str) -> MemoryStore:
    from pincite.store.memory import MemoryStore

    _, _, option = address.partition("?")
    if option not in ("", _WITHOUT_TEXT):
        raise ConfigInvalid(
            f"[store] uri is a store in memory with the option {option!r}.",
            f"The only option is {_WITHOUT_TEXT!r}.",
        )
    return _in_memory.setdefault(address, MemoryStore(full_text=not option))
