"""Chunks: windows of a document's kept text, cut where a reader would pause.

``WindowChunker`` takes windows of at most ``size`` tokens. A window ends at the strongest break
in its last fifth: before a heading, else after a paragraph, a sentence or a word; where there is
none it is cut hard, but never inside a grapheme cluster. A single cluster that is over the limits
is cut between code points; one code point over them is a configuration error. The next window
starts about ``overlap`` tokens before that end, at the start of a sentence or word if one is near.
Where the overlap leaves no room for new text, the next chunk starts without it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from pincite.documents.breaks import (
    best_cut,
    cluster_end,
    grapheme_floor,
    near_start,
    skip_space,
)
from pincite.documents.headings import find_headings, heading_paths
from pincite.documents.token_map import CountTokens, TokenMap
from pincite.errors import ConfigInvalid

DEFAULT_SIZE = 400
DEFAULT_OVERLAP = 80
# UTF-8 needs up to four bytes for one code point.
MIN_BYTES = 4


@dataclass(frozen=True)
class ChunkOptions:
    """How chunks are cut.

    Args:
        size: Tokens in a chunk, at most, as the embedder counts them.
        overlap: Tokens that a chunk shares with the one before it, about.
        max_tokens: The most tokens that the embedder sees, ``None`` = no limit.
        max_bytes: The most UTF-8 bytes of content that the store takes.

    Raises:
        ConfigInvalid: A value is out of range, or ``overlap`` is not below ``size``.
    """

    size: int = DEFAULT_SIZE
    overlap: int = DEFAULT_OVERLAP
    max_tokens: int | None = None
    max_bytes: int = 65_535

    def __post_init__(self) -> None:
        _require(self.size >= 1, f"rag.ingest.chunk-size is {self.size!r}, less than 1.")
        _require(self.overlap >= 0, f"rag.ingest.chunk-overlap is {self.overlap!r}, less than 0.")
        _require(
            self.overlap < self.size,
            f"rag.ingest.chunk-overlap = {self.overlap!r} is not below"
            f" rag.ingest.chunk-size = {self.size!r}.",
        )
        _require(
            self.max_tokens is None or self.max_tokens >= 1,
            f"The embedder's token limit is {self.max_tokens!r}, less than 1.",
        )
        _require(
            self.max_bytes >= MIN_BYTES,
            f"The byte limit of a chunk is {self.max_bytes!r}, less than {MIN_BYTES}.",
        )

    @property
    def token_limit(self) -> int:
        """The most tokens in a chunk: ``size`` within the embedder's limit."""
        return self.size if self.max_tokens is None else min(self.size, self.max_tokens)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ConfigInvalid(message)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk: ``text == document_text[start:end]``, without whitespace around it.

    Attributes:
        index: Position in the document, from 0, without gaps.
        start: First character, in Unicode code points of the document's text.
        end: One past the last character.
        text: The content, not empty.
        heading: Path of the headings at ``start``: ``"Guide > Install"``, ``""`` above the first.
        tokens: Exact count of the content.
    """

    index: int
    start: int
    end: int
    text: str
    heading: str
    tokens: int


class Chunker(Protocol):
    """Cuts a text into chunks.

    ``name`` and ``version`` are part of the recipe: a change of how texts are cut is a new
    version. Equal arguments give equal chunks.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def chunk(self, text: str, options: ChunkOptions, count_tokens: CountTokens) -> list[Chunk]:
        """Chunks in order of place; together they cover all text that is not whitespace.

        Args:
            text: The kept text of a document.
            options: Limits.
            count_tokens: Tokens of each text of a batch, in order, as the embedder counts them.

        Raises:
            ConfigInvalid: The limits are too small to hold one character.
        """
        ...


class WindowChunker:
    """The default chunker, as the head of this module describes it."""

    name = "window"
    version = "1"

    def chunk(self, text: str, options: ChunkOptions, count_tokens: CountTokens) -> list[Chunk]:
        """See ``Chunker.chunk``; a text without content has no chunks."""
        return list(_Windows(text, options, count_tokens)) if text.strip() else []


@dataclass(frozen=True, slots=True)
class _Window:
    start: int
    end: int
    tokens: int


class _Windows:
    def __init__(self, text: str, options: ChunkOptions, count: CountTokens) -> None:
        self._text = text
        self._end = len(text.rstrip())
        self._count = count
        self._limit = options.token_limit
        self._max_bytes = options.max_bytes
        # A model's limit below the size shrinks the overlap with the window.
        self._overlap_share = options.overlap / options.size
        self._overlap = self._limit * self._overlap_share
        self._map = TokenMap(text, count)
        headings = find_headings(text)
        self._headings = [heading.start for heading in headings]
        self._paths = ["", *heading_paths(headings)]

    def __iter__(self) -> Iterator[Chunk]:
        start = covered = skip_space(self._text, 0)
        index = 0
        while covered < self._end:
            window = self._window(start, covered) or self._first_window(covered)
            yield self._chunk(index, window)
            index += 1
            covered = skip_space(self._text, window.end)
            start = self._next_start(window, covered)

    def _chunk(self, index: int, window: _Window) -> Chunk:
        text = self._text[window.start : window.end]
        heading = self._paths[bisect_right(self._headings, window.start)]
        return Chunk(index, window.start, window.end, text, heading, window.tokens)

    def _window(self, start: int, covered: int) -> _Window | None:
        """The window at ``start``; ``None`` where it cannot hold text beyond ``covered``."""
        budget = float(self._limit - self._map.overhead)
        while (high := self._reach(start, budget)) > covered:
            cut = high if high == self._end else self._cut(start, covered, high)
            if cut <= covered:
                return None
            window = self._measure(start, cut)
            if window.tokens <= self._limit:
                return window
            # The counts are estimates: take off what the window is over by, at least one token.
            budget = min(budget * self._limit / window.tokens, budget - 1)
        return None

    def _measure(self, start: int, cut: int) -> _Window:
        text = self._text[start:cut].rstrip()
        return _Window(start, start + len(text), self._count([text])[0])

    def _reach(self, start: int, budget: float) -> int:
        """How far a window may go by the estimate of tokens and the exact count of bytes."""
        if budget <= 0:
            return start
        high = min(self._map.position(self._map.before(start) + budget), self._end)
        if (high - start) * MIN_BYTES <= self._max_bytes:
            return high
        data = self._text[start:high].encode("utf-8")
        return start + len(data[: self._max_bytes].decode("utf-8", "ignore"))

    def _cut(self, start: int, covered: int, high: int) -> int:
        low = max(high - (high - start) // 5, covered + 1)
        cut = best_cut(self._text, low, high, self._headings)
        return grapheme_floor(self._text, high if cut is None else cut, start)

    def _first_window(self, start: int) -> _Window:
        """The window at ``start`` when nothing is shared with the chunk before it."""
        return self._window(start, start) or self._smallest(start)

    def _smallest(self, start: int) -> _Window:
        """One cluster, or as much of it as the limits allow."""
        cut = cluster_end(self._text, start)
        while not self._fits(window := self._measure(start, cut)):
            if cut == start + 1:
                raise self._too_small(window.tokens)
            cut = start + (cut - start) // 2
        return window

    def _fits(self, window: _Window) -> bool:
        data = self._text[window.start : window.end].encode("utf-8")
        return window.tokens <= self._limit and len(data) <= self._max_bytes

    def _too_small(self, tokens: int) -> ConfigInvalid:
        return ConfigInvalid(
            f"A chunk of {self._limit} tokens cannot hold one character, which counts {tokens}.",
            "Raise rag.ingest.chunk-size, or take an embedder with a larger limit.",
        )

    def _next_start(self, window: _Window, covered: int) -> int:
        if not self._overlap or covered >= self._end:
            return covered
        wanted = self._map.position(self._map.before(window.end) - self._overlap)
        if wanted <= window.start:
            wanted = window.end - int((window.end - window.start) * self._overlap_share)
        high = wanted + (window.end - wanted) // 2
        start = skip_space(self._text, near_start(self._text, wanted, high, window.start))
        return start if window.start < start < covered else covered
