"""The searches of a lookup, made again with pymilvus alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from pymilvus import AsyncMilvusClient

from pincite.analysis import analyze
from pincite.embedding.port import Embedder, Vectors

Call = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class RawSearch:
    """What somebody would write without Pincite: embed the query, search, wait for the answers.

    ``calls`` are the arguments of the lookup's own searches: the same filter, limit, columns,
    consistency and index parameters; only the query is put in anew. Two run side by side. A leg
    is searched once, whatever the lookup does to make its answer good.
    """

    client: AsyncMilvusClient
    embedder: Embedder
    calls: tuple[Call, ...]

    async def ask(self, query: str, terms: str) -> list[Any]:
        """The answers of all searches; ``terms`` are the query's, for full text."""
        vector = (await self.embedder.embed([query], "search"))[0]
        return list(await asyncio.gather(*(self._search(c, vector, terms) for c in self.calls)))

    async def _search(self, call: Call, vector: Vectors, terms: str) -> Any:
        given, named = call
        data = [terms if isinstance(named["data"][0], str) else vector.tolist()]
        return await self.client.search(*given, **{**named, "data": data})


async def searches_of(lookup: Callable[[], Awaitable[object]]) -> tuple[Call, ...]:
    """The arguments of the first ``AsyncMilvusClient.search`` that the lookup makes in each field.

    Raises:
        RuntimeError: It makes none, so that there is nothing to compare with.
    """
    calls: list[Call] = []
    search = AsyncMilvusClient.search

    async def noted(client: AsyncMilvusClient, *given: Any, **named: Any) -> Any:
        calls.append((given, named))
        return await search(client, *given, **named)

    with patch.object(AsyncMilvusClient, "search", noted):
        await lookup()
    if not calls or any("anns_field" not in named for _, named in calls):
        raise RuntimeError("the lookup does not search through AsyncMilvusClient.search")
    first = {named["anns_field"]: (given, named) for given, named in reversed(calls)}
    return tuple(first.values())


def terms_of(query: str) -> str:
    """The query as full text takes it."""
    return " ".join(analyze(query))
