"""An embedder with the cache in front of it: what the pipelines use."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pincite.embedding.batching import Embedded, embed_all, embed_one
from pincite.embedding.cache import VectorCache, cache_key
from pincite.embedding.port import Action, Embedder, EmbedderInfo, Vectors
from pincite.errors import PinciteError

# Vectors are kept slice by slice, so that a crash costs seconds, not a batch. A slice that was
# quick is followed by one of twice its size: a fast embedder must not pay for many small ones.
FIRST_SLICE = 32
LARGEST_SLICE = 4_096
QUICK_S = 1.0


@dataclass(frozen=True)
class PassageResult:
    """Vectors of passages and where they came from.

    ``vectors`` is ``(n, dim) float32``, NaN where ``rejected`` has the position. ``computed``
    counts the different texts that were embedded, ``cached`` the texts that needed no embedding:
    found in the cache, or equal to another text of the call. ``tokens`` are those of the computed
    texts. ``degradation`` is the cache's code, if it is out of order.
    """

    vectors: Vectors
    rejected: Mapping[int, PinciteError]
    computed: int
    cached: int
    tokens: int
    degradation: str | None = None


class CachedEmbedder:
    """Embeds each different text once; ``cache=None`` keeps nothing between calls."""

    def __init__(self, embedder: Embedder, cache: VectorCache | None = None) -> None:
        self._embedder = embedder
        self._cache = cache

    @property
    def info(self) -> EmbedderInfo:
        """That of the embedder behind it."""
        return self._embedder.info

    @property
    def embedder(self) -> Embedder:
        """The embedder behind it."""
        return self._embedder

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """That of the embedder behind it."""
        return self._embedder.count_tokens(texts)

    async def embed_passages(
        self,
        texts: Sequence[str],
        *,
        tokens: Sequence[int] | None = None,
        timeout_s: float | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> PassageResult:
        """Vectors of the texts as passages; raises what ``embed_all`` raises.

        Args:
            texts: Any number of texts, equal ones too.
            tokens: Token counts of the texts, if they are known already.
            timeout_s: Seconds that each call of the embedder may take.
            progress: Told how many more of the different texts are done, and kept.
        """
        places = _places(texts)
        firsts = [where[0] for where in places.values()]
        parts: list[_Part] = []
        start, size = 0, FIRST_SLICE
        while start < len(firsts):
            positions = firsts[start : start + size]
            began = time.monotonic()
            parts.append(await self._slice(positions, texts, tokens, timeout_s))
            if progress is not None:
                progress(len(positions))
            start += size
            if time.monotonic() - began < QUICK_S:
                size = min(size * 2, LARGEST_SLICE)
        return self._spread(len(texts), places, parts)

    async def missing(self, texts: Sequence[str]) -> list[int]:
        """Positions of the different passages that would have to be embedded, in order."""
        firsts = [where[0] for where in _places(texts).values()]
        keys = self._keys([texts[index] for index in firsts], "add")
        found = await self._get(keys)
        return [index for index, key in zip(firsts, keys, strict=True) if key not in found]

    async def embed_query(self, text: str, timeout_s: float | None = None) -> Vectors:
        """Vector of a query, ``(dim,) float32``; raises what ``embed_one`` raises."""
        (key,) = self._keys([text], "search")
        found = await self._get([key])
        if key not in found:
            found[key] = await embed_one(self._embedder, text, "search", timeout_s)
            await self._put({key: found[key]})
        return found[key]

    async def close(self) -> None:
        """Close the embedder and the cache."""
        await self._embedder.close()
        if self._cache is not None:
            await asyncio.to_thread(self._cache.close)

    async def _slice(
        self,
        positions: list[int],
        texts: Sequence[str],
        tokens: Sequence[int] | None,
        timeout_s: float | None,
    ) -> _Part:
        keys = dict(zip(positions, self._keys([texts[at] for at in positions], "add"), strict=True))
        found = await self._get(list(keys.values()))
        rows = {at: found[key] for at, key in keys.items() if key in found}
        missing = [at for at in positions if at not in rows]
        embedded = await embed_all(
            self._embedder,
            [texts[at] for at in missing],
            "add",
            tokens=None if tokens is None else [tokens[at] for at in missing],
            timeout_s=timeout_s,
        )
        part = _part(missing, embedded)
        await self._put({keys[at]: row for at, row in part.rows.items()})
        return replace(part, rows={**rows, **part.rows})

    def _spread(
        self, count: int, places: Mapping[str, list[int]], parts: list[_Part]
    ) -> PassageResult:
        vectors = np.full((count, self.info.dim), np.nan, np.float32)
        rejected: dict[int, PinciteError] = {}
        rows = {index: row for part in parts for index, row in part.rows.items()}
        errors = {index: error for part in parts for index, error in part.rejected.items()}
        for where in places.values():
            if where[0] in rows:
                vectors[where] = rows[where[0]]
            else:
                rejected.update(dict.fromkeys(where, errors[where[0]]))
        computed = sum(part.computed for part in parts)
        return PassageResult(
            vectors,
            dict(sorted(rejected.items())),
            computed,
            count - computed - len(rejected),
            sum(part.tokens for part in parts),
            self._cache.degradation if self._cache else None,
        )

    def _keys(self, texts: Sequence[str], action: Action) -> list[bytes]:
        space = self.info.space.id
        return [cache_key(space, action, _digest(text)) for text in texts]

    async def _get(self, keys: list[bytes]) -> dict[bytes, Vectors]:
        if self._cache is None:
            return {}
        # In a thread, because another process may hold the file for seconds.
        return await asyncio.to_thread(self._cache.get_many, keys, self.info.dim)

    async def _put(self, vectors: dict[bytes, Vectors]) -> None:
        if self._cache is not None and vectors:
            await asyncio.to_thread(self._cache.put_many, vectors)


@dataclass(frozen=True)
class _Part:
    """Rows and errors by position of the text in the call."""

    rows: Mapping[int, Vectors]
    rejected: Mapping[int, PinciteError]
    computed: int
    tokens: int


def _part(positions: list[int], embedded: Embedded) -> _Part:
    rejected = {positions[row]: error for row, error in embedded.rejected.items()}
    rows = {
        at: embedded.vectors[row]
        for row, at in enumerate(positions)
        if row not in embedded.rejected
    }
    return _Part(rows, rejected, len(rows), embedded.tokens)


def _places(texts: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for index, text in enumerate(texts):
        places.setdefault(text, []).append(index)
    return places


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
