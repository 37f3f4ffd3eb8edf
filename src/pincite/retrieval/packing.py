"""From candidates to evidence blocks that fit the token budget and repeat no text.

In the order of rank, each candidate is shortened by what blocks of its document already show,
then packed if it fits. Chunks of one document overlap, so that trimming buys room.

- Nothing new to show, or blank: dropped as ``duplicate``. Two new pieces around a shown one: the
  longer is packed, so that a block stays one span.
- Does not fit: dropped as ``budget``; a later, shorter one may still be packed.
- The first one is longer than the whole budget: its beginning is packed, because one long chunk
  must not leave the caller with nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import pyarrow as pa

from pincite.retrieval.candidates import Candidate, from_table
from pincite.retrieval.postprocess import BUDGET, DUPLICATE
from pincite.schemas.dropped import DROPPED

CountTokens = Callable[[Sequence[str]], list[int]]
Span = tuple[int, int]


@dataclass(frozen=True)
class Block:
    """A candidate as it is shown: ``content`` is the kept text's ``[char_start:char_end]``.

    Where the candidate has no span, neither has the block. ``trimmed``: it is not the whole chunk.
    """

    candidate: Candidate
    content: str
    char_start: int | None
    char_end: int | None
    trimmed: bool
    tokens: int


@dataclass(frozen=True)
class Packed:
    """The blocks in order of rank, and what did not become one (``schemas.dropped``)."""

    blocks: tuple[Block, ...]
    dropped: pa.Table

    @property
    def tokens_used(self) -> int:
        return sum(block.tokens for block in self.blocks)


def upper_bound(texts: Sequence[str]) -> list[int]:
    """Tokens of each text at most: no tokenizer makes more tokens than UTF-8 bytes."""
    return [len(text.encode("utf-8", "surrogatepass")) for text in texts]


def pack(candidates: pa.Table, budget: int, count: CountTokens) -> Packed:
    """Blocks of at most ``budget`` tokens together, as ``count`` counts them.

    Raises:
        ValueError: A count is no whole number from 0.
    """
    blocks: list[Block] = []
    dropped: list[dict[str, Any]] = []
    left = budget
    for candidate in from_table(candidates):
        block = _new_part(candidate, blocks)
        if block is None:
            dropped.append(_dropped(candidate, DUPLICATE))
            continue
        fitting = _fitted(block, left, count, may_shorten=not blocks)
        if fitting is None:
            dropped.append(_dropped(candidate, BUDGET))
            continue
        blocks.append(fitting)
        left -= fitting.tokens
    return Packed(tuple(blocks), DROPPED.from_rows(dropped))


def _dropped(candidate: Candidate, reason: str) -> dict[str, Any]:
    return {
        "evidence_key": candidate.evidence_key,
        "corpus": candidate.corpus,
        "source": candidate.source,
        "reason": reason,
        "score": candidate.score,
    }


def _new_part(candidate: Candidate, blocks: Sequence[Block]) -> Block | None:
    """What no packed block shows yet; its tokens are not counted yet."""
    if not candidate.content.strip():
        return None
    span = _span(candidate)
    whole = Block(candidate, candidate.content, candidate.char_start, candidate.char_end, False, 0)
    if span is None:
        return whole
    shown = [s for block in blocks if (s := _shown(block, candidate)) is not None]
    rest = _without([span], shown)
    if rest == [span]:
        return whole
    return _longest(whole, rest)


def _span(part: Candidate | Block) -> Span | None:
    if part.char_start is None or part.char_end is None:
        return None
    return part.char_start, part.char_end


def _shown(block: Block, candidate: Candidate) -> Span | None:
    """The span of a block that speaks of the same text; another version is another text."""
    same = candidate.doc_id is not None and _text_of(block.candidate) == _text_of(candidate)
    return _span(block) if same else None


def _text_of(candidate: Candidate) -> tuple[str, str | None, int | None]:
    return candidate.corpus, candidate.doc_id, candidate.doc_version


def _without(spans: list[Span], shown: Sequence[Span]) -> list[Span]:
    for first, last in shown:
        pieces = [((start, min(end, first)), (max(start, last), end)) for start, end in spans]
        spans = [piece for pair in pieces for piece in pair if piece[0] < piece[1]]
    return spans


def _longest(whole: Block, rest: Sequence[Span]) -> Block | None:
    offset = whole.char_start or 0
    parts = [_part(whole, start - offset, end - offset) for start, end in rest]
    found = [part for part in parts if part is not None]
    return max(found, key=lambda part: len(part.content), default=None)


def _part(block: Block, start: int, end: int) -> Block | None:
    """``content[start:end]`` without whitespace at its ends; ``None`` when nothing is left."""
    text = block.content[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    if not text:
        return None
    whole = _span(block)
    span = (None, None) if whole is None else (whole[0] + start, whole[0] + start + len(text))
    return replace(block, content=text, char_start=span[0], char_end=span[1], trimmed=True)


def _fitted(block: Block, left: int, count: CountTokens, *, may_shorten: bool) -> Block | None:
    tokens = _tokens(block.content, count)
    if tokens <= left:
        return replace(block, tokens=tokens)
    return _beginning(block, left, count) if may_shorten else None


def _tokens(text: str, count: CountTokens) -> int:
    """The text's tokens; a counter that gives no whole number from 0 must not decide what fits."""
    (tokens,) = count([text])
    if isinstance(tokens, bool) or not isinstance(tokens, Integral) or tokens < 0:
        raise ValueError("a text's tokens are a whole number from 0")
    return int(tokens)


def _beginning(block: Block, left: int, count: CountTokens) -> Block | None:
    """As much of the block's beginning as fits, to the end of a word where one is near."""
    text = _part(block, 0, len(block.content))
    if text is None:
        return None
    length = _longest_prefix(text.content, left, count)
    for end in (_word_end(text.content, length), length):
        part = _part(text, 0, end)
        tokens = _tokens(part.content if part is not None else "", count)
        if part is not None and tokens <= left:
            return replace(part, tokens=tokens)
    return None


def _longest_prefix(text: str, left: int, count: CountTokens) -> int:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        tokens = _tokens(text[:middle], count)
        low, high = (middle, high) if tokens <= left else (low, middle - 1)
    return low


def _word_end(text: str, length: int) -> int:
    """The last end of a word in the second half of ``text[:length]``, else ``length``."""
    if length < len(text) and text[length].isspace():
        return length
    spaces = (i for i in range(length - 1, length // 2, -1) if text[i].isspace())
    return next(spaces, length)
