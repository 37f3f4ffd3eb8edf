"""An estimate of where tokens lie in a text, from one batch of counts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

CountTokens = Callable[[Sequence[str]], Sequence[int]]

# Short enough to place a cut well, long enough that rounding up per piece adds little.
_PIECE = re.compile(r"(?s).{0,119}\s|.{1,120}")


class TokenMap:
    """Token positions in a text, interpolated inside pieces of at most 120 characters.

    Counts of pieces add up to at least the count of the whole for the usual tokenizers, so the
    map errs on the side of shorter windows. What a tokenizer adds to every text (special tokens,
    a prefix) is taken out of the pieces and told as ``overhead``.

    Args:
        text: The text; each of its characters is counted once.
        count: Token counts of texts, in order.
    """

    def __init__(self, text: str, count: CountTokens) -> None:
        pieces = _PIECE.findall(text)
        overhead, *counts = count(["", *pieces])
        self.overhead = overhead
        self._offsets = list(accumulate(map(len, pieces), initial=0))
        self._totals = list(accumulate((max(c - overhead, 0) for c in counts), initial=0))

    def before(self, index: int) -> float:
        """Tokens before a character position."""
        at = bisect_right(self._offsets, index) - 1
        if at >= len(self._offsets) - 1:
            return float(self._totals[-1])
        return self._totals[at] + (index - self._offsets[at]) * self._density(at)

    def position(self, tokens: float) -> int:
        """The last character position with at most that many tokens before it."""
        at = max(bisect_right(self._totals, tokens) - 1, 0)
        if at >= len(self._totals) - 1:
            return self._offsets[-1]
        return self._offsets[at] + int((tokens - self._totals[at]) / self._density(at))

    def _density(self, at: int) -> float:
        tokens = self._totals[at + 1] - self._totals[at]
        return tokens / (self._offsets[at + 1] - self._offsets[at])
