"""A deterministic embedder without a model, for tests and benchmarks.

A text is a bag of case-folded words and CJK character bigrams. Each term adds its weight at two
signed positions that its BLAKE2 digest names, so that equal words match, in any process and on
any platform. A small share of the vector is a digest of the exact text, which keeps texts of
equal words apart and gives a text without words a direction.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import add

import numpy as np
import numpy.typing as npt

from pincite.embedding.config import EmbedderConfig
from pincite.embedding.port import Action, EmbedderInfo, ScoreProfile, Vectors, VectorSpace
from pincite.embedding.vectors import unit

DIM = 384
MAX_TOKENS = 8192
BYTES_PER_TOKEN = 4
REMEMBERED_TERMS = 1 << 18
FINGERPRINT = 0.03

_CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(rf"[^\W_{_CJK}]+")
_ASCII_WORDS = bytes(
    code if chr(code).isalnum() and code < 128 else 32 for code in bytes(range(256)).lower()
)


class _Terms(dict[str | bytes, int]):
    """Packed 32-bit code of a term: two positions of 9 bits, two signs, weight class."""

    def __missing__(self, term: str | bytes) -> int:
        raw = term if isinstance(term, bytes) else term.encode("utf-8")
        digest = int.from_bytes(hashlib.blake2b(raw, digest_size=4).digest(), "little")
        code = (digest & 0x0FFFFFFF) | (min(len(raw), 15) << 28)
        self[term] = code
        return code


class HashEmbedder:
    """See the module; ``embed`` never fails and asks nobody."""

    def __init__(self, info: EmbedderInfo | None = None) -> None:
        self._info = info or _info(EmbedderConfig(provider="hash"))
        self._terms = _Terms()

    @classmethod
    def from_config(cls, config: EmbedderConfig) -> HashEmbedder:
        """Build it; only thresholds, limits and ``revision`` of the configuration matter."""
        return cls(_info(config))

    @property
    def info(self) -> EmbedderInfo:
        """384 dimensions, unit length, no threshold."""
        return self._info

    async def embed(
        self, texts: Sequence[str], action: Action, timeout_s: float | None = None
    ) -> Vectors:
        """``(n, 384) float32``; queries and passages are embedded alike."""
        return self.vectors(texts)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """The same as ``embed``, for callers without an event loop."""
        data = [text.encode("utf-8", "surrogatepass") for text in texts]
        codes = [self._codes(text, raw) for text, raw in zip(texts, data, strict=True)]
        bags = np.sqrt(np.abs(sums := _sums(codes))) * np.sign(sums)
        return unit(_with_fingerprints(bags, data))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """A quarter of the UTF-8 bytes, rounded up."""
        return [-(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN) for text in texts]

    async def close(self) -> None:
        """Nothing is held."""

    def _codes(self, text: str, raw: bytes) -> list[int]:
        # Codes carry their meaning in themselves, so forgetting all of them is always safe.
        if len(self._terms) > REMEMBERED_TERMS:
            self._terms = _Terms()
        terms: Iterable[str | bytes] = (
            raw.translate(_ASCII_WORDS).split() if text.isascii() else _terms(text)
        )
        return list(map(self._terms.__getitem__, terms))


def _info(config: EmbedderConfig) -> EmbedderInfo:
    return EmbedderInfo(
        space=VectorSpace("hash", "words-and-bigrams", config.revision or "1", DIM),
        max_tokens=config.max_tokens or MAX_TOKENS,
        profile=ScoreProfile(),
        batch_size=config.batch_size or 256,
        max_batch_tokens=config.max_batch_tokens,
    )


def _terms(text: str) -> Iterable[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    bigrams = chain.from_iterable(map(_bigrams, _RUN.findall(folded)))
    return chain(_WORD.findall(folded), bigrams)


def _bigrams(run: str) -> Iterable[str]:
    return map(add, run, run[1:]) if len(run) > 1 else (run,)


def _sums(codes: list[list[int]]) -> npt.NDArray[np.float64]:
    """Signed weights of all terms per text, ``(n, DIM)``."""
    size = len(codes) * DIM
    terms = np.fromiter(chain.from_iterable(codes), np.int64)
    start = np.repeat(np.arange(len(codes)) * DIM, [len(row) for row in codes])
    total = np.zeros(size)
    # The length of a word stands in for how rare it is; halves keep the sums exact.
    weights = 0.5 * (terms >> 28)
    for position, sign in ((0, 18), (9, 19)):
        slot = (((terms >> position) & 511) * DIM) >> 9
        signed = np.where((terms >> sign) & 1, weights, -weights)
        total += np.bincount(start + slot, weights=signed, minlength=size)
    return total.reshape(len(codes), DIM)


def _with_fingerprints(bags: npt.NDArray[np.float64], data: list[bytes]) -> npt.NDArray[np.float64]:
    digests = b"".join(hashlib.blake2b(raw, digest_size=16).digest() for raw in data)
    slots = np.frombuffer(digests, "<u4").reshape(len(data), 4).astype(np.int64) % DIM
    scale = FINGERPRINT * np.maximum(1.0, np.sqrt(np.square(bags).sum(axis=1)))
    rows = np.arange(len(data))
    # Halving weights never cancel each other, also where two positions are the same.
    for column in range(4):
        bags[rows, slots[:, column]] += scale * 0.5**column
    return bags
